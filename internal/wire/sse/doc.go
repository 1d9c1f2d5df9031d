// Package sse reads and writes Server-Sent Events (WHATWG HTML, section 9.2), the
// framing of MCP's answers over HTTP. The package parses no JSON, opens no connection,
// and limits the size of an event. An event keeps its received bytes, so that a proxy
// can forward it unchanged, with its comments.
package sse
