// Package sse reads and writes Server-Sent Events (WHATWG HTML, section 9.2), the
// framing of MCP's answers over HTTP. It is pure: it parses no JSON, opens nothing,
// and limits what it holds. An event keeps its received bytes, so that a proxy can
// forward it unchanged, with its comments.
package sse
