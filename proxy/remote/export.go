package remote

import (
	"net/http"
	"net/url"

	"github.com/clawai/clawai/proxy/frame"
)

// NewClient is the HTTP client of this room: it follows no redirection to another
// origin, decodes nothing, and bounds what it waits for but not how long a stream
// lasts.
func NewClient(o Options) *http.Client { return newClient(o) }

// ContentType is the kind of an answer's body, application/json or
// text/event-stream; an error says why it must not be read.
func ContentType(h http.Header) (string, error) { return contentType(h) }

// OneLine is a frame as the pump takes it: the line breaks between its tokens
// are blanks. It changes data in place.
func OneLine(data []byte) []byte { return oneLine(data) }

// SameOrigin reports two addresses that credentials may be shared between.
func SameOrigin(a, b *url.URL) bool { return sameOrigin(a, b) }

// Mirrored reports a message of the era without sessions, and which of the headers
// that repeat its body (MCP 2026-07-28 basic/transports/streamable-http) is there
// and says something else; "" when none does. One that is missing is the server's
// to miss.
func Mirrored(h http.Header, f *frame.Frame) (modern bool, differs string) {
	e := eraOf(f)
	if !e.modern {
		return false, ""
	}
	want := make(http.Header)
	mirror(want, f, nil)
	want.Set(headerVersion, e.version)
	for _, name := range []string{headerVersion, headerMethod, headerName} {
		got := h.Values(name)
		if len(got) > 1 || len(got) == 1 && decodeHeader(got[0]) != decodeHeader(want.Get(name)) {
			return true, name
		}
	}
	return true, ""
}
