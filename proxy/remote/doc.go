// Package remote reaches MCP servers over HTTP: Streamable HTTP of every
// protocol version and the HTTP+SSE of 2024-11-05, as an upstream of the pump.
//
// A frame crosses as the bytes it came in. Only line breaks that stand between
// its tokens become spaces, before anything judges it, because the pump's frames
// are lines. Credentials go to the origin they are meant for and nowhere else,
// and nothing in here decides a call.
package remote
