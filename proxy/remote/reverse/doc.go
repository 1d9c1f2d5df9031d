// Package reverse is an HTTP server in front of remote MCP servers, for clients that speak HTTP.
// Each server has its own path below a secret one. The gate judges each posted message before it
// is forwarded, and each answer, event by event as it comes.
//
// It is not an open relay: it reaches only the servers that its owner named, and answers only
// requests that name this machine as the host.
package reverse
