// Package remote reaches MCP servers over HTTP: Streamable HTTP of every protocol version and the
// HTTP+SSE of 2024-11-05, as an upstream of package proxy.
//
// A frame keeps its bytes. Only line breaks between its tokens become spaces, before the frame is
// judged, because package proxy reads frames as lines. Credentials go only to the origin that
// they are meant for. This package makes no decision about a call.
package remote
