// Package reverse is an HTTP server in front of remote MCP servers, for clients that speak HTTP.
// Each server has its own path below a secret path. The gate judges each posted message before it
// is forwarded. It judges each answer too, event by event.
//
// The server is not an open relay: it connects only to the servers that its owner configured, and
// it answers only requests with a Host header for this machine.
package reverse
