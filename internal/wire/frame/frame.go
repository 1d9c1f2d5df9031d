// Package frame reads JSON-RPC messages from a byte stream, one per line, so
// that no other parser can read them differently: whatever two parsers could
// disagree on is refused. It is pure and judges nothing; internal/mcp gives a
// frame its meaning. docs/frames.md has the rules.
package frame

import "github.com/clawai/clawai/internal/wire/jsonscan"

// Kind is the JSON-RPC shape of a frame. The zero value is no frame.
type Kind uint8

// The kinds of frames.
const (
	Invalid Kind = iota
	Request
	Notification
	Response // carries result or error
	Batch    // a JSON array; only where protocol version 2025-03-26 was negotiated
)

// Frame is one admitted JSON-RPC message. Its slices alias Raw, which is what
// was judged and what is recorded and forwarded; nobody may write to it.
type Frame struct {
	Raw    []byte // the message as received, without line end and outer blanks
	Kind   Kind
	ID     []byte // the id's JSON token (quotes included); nil for a notification
	Method string // decoded; empty for a response
	Params []byte // nil when absent
	Result []byte // nil when absent
	Error  []byte // nil when absent

	// Index is of that one of Params, Result and Error which is there.
	Index jsonscan.Index
	// Unambiguous says that CheckFolded has nothing against the member arguments of
	// Params; when false, it has not been asked.
	Unambiguous bool

	Elements []Frame // of a Batch, in order
}
