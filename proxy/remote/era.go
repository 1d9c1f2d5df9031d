package remote

import (
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/tidwall/gjson"
)

// The headers of Streamable HTTP.
const (
	headerVersion = "Mcp-Protocol-Version"
	headerSession = "Mcp-Session-Id"
	headerEvent   = "Last-Event-Id"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
	headerParam   = "Mcp-Param-"
)

// era is the protocol version that a frame itself states. Since MCP 2026-07-28 each request and
// each notification of a client states its version.
type era struct {
	modern  bool   // the frame states its version
	version string // the version in the frame; "" if modern is false
}

// eraOf reads the version that a frame states.
func eraOf(f *frame.Frame) era {
	if f.Kind != frame.Request && f.Kind != frame.Notification {
		return era{}
	}
	m, refusal := mcp.Read(f, mcp.ClientToServer, "")
	if refusal != nil || !m.Modern {
		return era{}
	}
	v := gjson.GetBytes(f.Params, `_meta.io\.modelcontextprotocol/protocolVersion`)
	return era{modern: true, version: v.Str}
}

// mirrorHeaders sets the headers that repeat the body of a modern request (MCP 2026-07-28
// basic/transports/streamable-http). The headers must agree with the body, because a reverse proxy
// reads the headers and the server reads the body.
func mirrorHeaders(h http.Header, f *frame.Frame, bound []binding) {
	h.Set(headerMethod, f.Method)
	if name, ok := mirroredName(f); ok {
		h.Set(headerName, encodeHeader(name))
	}
	if f.Method != "tools/call" {
		return
	}
	args := gjson.GetBytes(f.Params, "arguments")
	for _, b := range bound {
		if v, ok := b.headerValue(args); ok {
			h.Set(headerParam+b.header, encodeHeader(v))
		}
	}
}

// mirroredName returns the value of the header Mcp-Name for a frame. It returns false if the frame
// needs no such header.
func mirroredName(f *frame.Frame) (string, bool) {
	member := ""
	switch f.Method {
	case "tools/call", "prompts/get":
		member = "name"
	case "resources/read":
		member = "uri"
	case "tasks/get", "tasks/cancel", "tasks/update", "tasks/result":
		member = "taskId"
	default:
		return "", false
	}
	v := gjson.GetBytes(f.Params, member)
	return v.Str, v.Type == gjson.String
}

// encodeHeader returns s in a form that is valid in a header: unchanged if possible, otherwise as
// base64 between openBase64 and endBase64.
func encodeHeader(s string) string {
	plain := s == strings.Trim(s, " \t") && !(strings.HasPrefix(s, openBase64) && strings.HasSuffix(s, endBase64))
	if plain && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		return s
	}
	return openBase64 + base64.StdEncoding.EncodeToString([]byte(s)) + endBase64
}

const openBase64, endBase64 = "=?base64?", "?="

// decodeHeader reverses encodeHeader. It returns a value in any other form unchanged.
func decodeHeader(s string) string {
	inner, open := strings.CutPrefix(s, openBase64)
	inner, end := strings.CutSuffix(inner, endBase64)
	if !open || !end {
		return s
	}
	text, err := base64.StdEncoding.DecodeString(inner)
	if err != nil {
		return s
	}
	return string(text)
}
