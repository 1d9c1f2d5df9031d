package remote

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/tidwall/gjson"
)

// Tools knows which arguments of which tools a server wants repeated in headers, from
// what it listed. The zero value knows none. It is safe for concurrent use.
type Tools struct {
	mu    sync.Mutex
	bound bindings
}

// LearnTools takes in an answer to tools/list, as one JSON-RPC message.
func (t *Tools) LearnTools(answer []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bound.learnTools([]byte(gjson.GetBytes(answer, "result").Raw))
}

func (t *Tools) toolBindings(tool string) []binding {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bound[tool]
}

// Confirmed is what a client's message says of the headers that came with it.
type Confirmed struct {
	Modern  bool        // the message is of the era without sessions (MCP 2026-07-28)
	Version string      // the version that it says it is in, "" when it says none
	Header  http.Header // those of the headers that repeat the message, as the message has it
	Differs string      // the header that says something else; "" when none does
	Missing string      // the first header that is not there and must be; only Require looks for one
	Code    int         // of JSON-RPC, for either
}

// ConfirmHeaders compares the headers that repeat a message (MCP 2026-07-28
// basic/transports/streamable-http) with it, whatever its version is: whoever reads
// them must read what the rules judged. What the message does not say is in no
// Header; one that is missing is the server's to miss (see Require).
func ConfirmHeaders(h http.Header, f *frame.Frame, tools *Tools) Confirmed {
	e := eraOf(f)
	c := Confirmed{Modern: e.modern, Version: e.version, Header: make(http.Header)}
	if f.Method == "initialize" {
		c.Version = gjson.GetBytes(f.Params, "protocolVersion").Str
	}
	says := f.Kind == frame.Request || f.Kind == frame.Notification
	switch v := h.Get(headerVersion); {
	case e.modern:
		c.compareHeader(h, headerVersion, e.version, true)
	case f.Kind == frame.Notification && modernVersion(v): // which need not say it (basic, _meta)
		c.Modern, c.Version, c.Header[headerVersion] = true, v, []string{v}
	case says && f.Method != "initialize" && modernVersion(v):
		c.Differs, c.Code = headerVersion, invalidParams // its messages say it themselves, and this one does not
	}
	if says {
		c.compareHeader(h, headerMethod, f.Method, true)
		if len(h[headerName]) > 0 {
			name, named := mirroredName(f)
			c.compareHeader(h, headerName, name, named)
		}
	}
	if f.Method == "tools/call" && repeatsArguments(h) {
		c.compareArguments(h, f, tools)
	}
	return c
}

// compareHeader takes in one header that must say want, and must not be there unless said.
func (c *Confirmed) compareHeader(h http.Header, name, want string, said bool) {
	got := h[name]
	switch {
	case len(got) == 0:
	case len(got) > 1 || !said || decodeHeader(got[0]) != want:
		c.Differs, c.Code = name, headerMismatch
	default:
		c.Header[name] = []string{encodeHeader(want)}
	}
}

// RequireHeaders looks for the headers that a request of 2026-07-28 must have. It is for the server
// that the request is to.
func (c *Confirmed) RequireHeaders(h http.Header, f *frame.Frame, tools *Tools) {
	must := []string{headerVersion, headerMethod}
	switch f.Method {
	case "tools/call", "resources/read", "prompts/get":
		if _, named := mirroredName(f); named {
			must = append(must, headerName)
		}
	}
	if f.Method == "tools/call" {
		args := gjson.GetBytes(f.Params, "arguments")
		for _, b := range tools.toolBindings(gjson.GetBytes(f.Params, "name").Str) {
			if _, ok := b.headerValue(args); ok {
				must = append(must, http.CanonicalHeaderKey(headerParam+b.header))
			}
		}
	}
	for _, name := range must {
		if len(h[name]) == 0 {
			c.Missing, c.Code = name, headerMismatch
			return
		}
	}
}

func repeatsArguments(h http.Header) bool {
	for name := range h {
		if strings.HasPrefix(name, headerParam) {
			return true
		}
	}
	return false
}

// compareArguments takes in the headers that repeat arguments, as far as the server has
// listed the tool.
func (c *Confirmed) compareArguments(h http.Header, f *frame.Frame, tools *Tools) {
	args := gjson.GetBytes(f.Params, "arguments")
	for _, b := range tools.toolBindings(gjson.GetBytes(f.Params, "name").Str) {
		v, ok := b.headerValue(args)
		if ok || !b.isPresent(args) { // a value that no header can have is not for one to contradict
			c.compareHeader(h, http.CanonicalHeaderKey(headerParam+b.header), v, ok)
		}
	}
}

// modernVersion reports a version whose messages say it.
func modernVersion(v string) bool {
	_, err := time.Parse(time.DateOnly, v)
	return err == nil && v >= "2026-07-28"
}

const invalidParams = -32602

// IsLegacy reports a version whose messages do not say it: a header alone does.
func IsLegacy(version string) bool {
	return slices.Contains([]string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}, version)
}
