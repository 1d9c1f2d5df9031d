// Package remote connects to MCP servers over HTTP, as an upstream of package proxy. It speaks
// Streamable HTTP of every protocol version and the HTTP+SSE of 2024-11-05.
//
// A frame keeps its bytes, with one exception: line breaks between its tokens become spaces before
// the frame is judged, because package proxy reads frames as lines. Credentials go only to their
// own origin. This package makes no decision about a call.
package remote
