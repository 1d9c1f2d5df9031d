// Package sse reads and writes Server-Sent Events (WHATWG HTML, section 9.2), in which MCP's
// answers come over HTTP. The package parses no JSON, opens no connection, and limits the size of
// an event. An event keeps its received bytes and comments, so that a proxy can forward it
// unchanged.
package sse
