// Package sse reads and writes Server-Sent Events (WHATWG HTML, section 9.2),
// the framing of MCP's answers over HTTP. It is pure: it knows no JSON, opens
// nothing, and bounds what it holds. An event is kept with the bytes it came in,
// so that a proxy can pass it on unchanged, comments and all.
package sse
