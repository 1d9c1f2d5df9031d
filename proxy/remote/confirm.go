package remote

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/tidwall/gjson"
)

// Tools holds the tool arguments that a server wants in headers too, according to its tools/list.
// The zero value holds none. It is safe for concurrent use.
type Tools struct {
	mu    sync.Mutex
	bound map[string][]binding // bindings by tool name
}

// LearnTools stores the bindings from an answer to tools/list. answer is a whole JSON-RPC message.
func (t *Tools) LearnTools(answer []byte) {
	t.learnResult([]byte(gjson.GetBytes(answer, "result").Raw))
}

func (t *Tools) learnResult(result []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	gjson.GetBytes(result, "tools").ForEach(func(_, tool gjson.Result) bool {
		name := tool.Get("name").Str
		if found := collectBindings(nil, tool.Get("inputSchema.properties"), nil); len(found) > 0 {
			if t.bound == nil {
				t.bound = make(map[string][]binding)
			}
			t.bound[name] = found
		} else {
			delete(t.bound, name)
		}
		return true
	})
}

func (t *Tools) toolBindings(tool string) []binding {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bound[tool]
}

// Confirmed is the result of comparing a client's message with its headers.
type Confirmed struct {
	Modern  bool        // the message is of 2026-07-28 or later and belongs to no session
	Version string      // the version in the message; "" if it states none
	Header  http.Header // the headers that repeat the message; their values are from the message
	Differs string      // name of a header that differs from the message; "" if none differs
	Missing string      // name of the first required header that is missing, set only by RequireHeaders
	Code    int         // JSON-RPC error code if Differs or Missing is set
}

// ConfirmHeaders compares a message with the headers that repeat it (MCP 2026-07-28
// basic/transports/streamable-http). It does so for messages of every version. A program that reads
// only the headers must see the values that the rules judged. So the Header of the result holds
// only values from the message. A missing header is no difference here (see RequireHeaders).
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
	case f.Kind == frame.Notification && modernVersion(v): // a notification may omit the version (basic, _meta)
		c.Modern, c.Version, c.Header[headerVersion] = true, v, []string{v}
	case says && f.Method != "initialize" && modernVersion(v):
		c.Differs, c.Code = headerVersion, invalidParams // a message of this version must state the version itself, but this one does not
	}
	if says {
		c.compareHeader(h, headerMethod, f.Method, true)
		if len(h[headerName]) > 0 {
			name, named := mirroredName(f)
			c.compareHeader(h, headerName, name, named)
		}
	}
	if f.Method == "tools/call" {
		c.compareArguments(h, f, tools)
	}
	return c
}

// compareHeader checks one header. If the message has the value (said), the header must be missing
// or equal to the value (want). Otherwise the header must be missing.
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

// RequireHeaders checks that a request of 2026-07-28 has all required headers. Only a server that
// executes the request calls it. A request that is only forwarded may lack headers.
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

// compareArguments compares the arguments of a call with the headers that repeat them. It can do so
// only if the server has listed the tool.
func (c *Confirmed) compareArguments(h http.Header, f *frame.Frame, tools *Tools) {
	args := gjson.GetBytes(f.Params, "arguments")
	for _, b := range tools.toolBindings(gjson.GetBytes(f.Params, "name").Str) {
		v, ok := b.headerValue(args)
		if ok || !b.isPresent(args) { // no header can hold this value, so a header cannot contradict it
			c.compareHeader(h, http.CanonicalHeaderKey(headerParam+b.header), v, ok)
		}
	}
}

// modernVersion reports whether messages of this version state the version themselves.
func modernVersion(v string) bool {
	_, err := time.Parse(time.DateOnly, v)
	return err == nil && v >= mcp.ModernVersion
}

const invalidParams = -32602

// IsLegacy reports whether this is a version whose messages do not state the version. Only a header
// states it.
func IsLegacy(version string) bool {
	return slices.Contains(mcp.LegacyVersions, version)
}
