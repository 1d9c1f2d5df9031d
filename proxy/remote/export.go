package remote

import (
	"net/http"
	"net/url"
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
