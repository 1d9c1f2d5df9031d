// Package frame reads JSON-RPC messages from a byte stream, one per line, so that no
// other parser can read them differently: it refuses everything that two parsers could
// read in different ways. It has no side effects and makes no decision about a frame;
// internal/mcp interprets frames. docs/frames.md has the rules.
package frame

import "github.com/clawai/clawai/internal/wire/jsonscan"

// Kind is the JSON-RPC shape of a frame. The zero value is Invalid.
type Kind uint8

// The kinds of frames.
const (
	Invalid Kind = iota
	Request
	Notification
	Response // carries result or error
	Batch    // a JSON array; only where protocol version 2025-03-26 was negotiated
)

// Frame is one admitted JSON-RPC message. Its slices alias Raw, the bytes that are judged, recorded
// and forwarded. They must not be changed.
type Frame struct {
	Raw    []byte // the message as received, without line end and outer blanks
	Kind   Kind
	ID     []byte // the id's JSON token (quotes included); nil for a notification
	Method string // decoded; empty for a response
	Params []byte // nil when absent
	Result []byte // nil when absent
	Error  []byte // nil when absent

	// Index is the index of Params, Result or Error, whichever is present.
	Index jsonscan.Index
	// Unambiguous means that CheckFolded accepts the member "arguments" of Params.
	// False means that CheckFolded has not been called or finds a fault.
	Unambiguous bool

	Elements []Frame // of a Batch, in order
}

// Messages yields the elements of a Batch, or the frame itself.
func (f *Frame) Messages(yield func(*Frame) bool) {
	if f.Kind != Batch {
		yield(f)
		return
	}
	for i := range f.Elements {
		if !yield(&f.Elements[i]) {
			return
		}
	}
}
