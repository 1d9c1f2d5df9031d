// Package frame reads JSON-RPC messages from a byte stream, one message per line. It refuses every
// message that two parsers could read in different ways. It has no side effects and makes no
// decision about a frame. internal/mcp interprets frames, and docs/frames.md has the rules.
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
	Batch    // a JSON array of messages; only with the negotiated protocol version 2025-03-26
)

// Frame is one admitted JSON-RPC message. Its slices are parts of Raw, so they must not be changed:
// Raw holds the bytes that are judged, recorded and forwarded.
type Frame struct {
	Raw    []byte // the message as received, without the line end and the blanks around it
	Kind   Kind
	ID     []byte // JSON token of the id, with its quotes; nil for a notification
	Method string // the decoded method; "" for a response
	Params []byte // nil when absent
	Result []byte // nil when absent
	Error  []byte // nil when absent

	// Index is the index of Params, Result or Error. A frame has only one of them.
	Index jsonscan.Index
	// Unambiguous means that the member "arguments" of Params has passed the checks of CheckFolded.
	// False means that they found a fault or were not made.
	Unambiguous bool

	Elements []Frame // the elements of a Batch, in order
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
