// Package reverse is clawai as an HTTP server in front of remote MCP servers, for
// clients that speak HTTP themselves. Each server has a path of its own below a
// secret one; what is posted there is judged by the gate and forwarded, and what
// the server answers is judged on its way back, event by event, as it comes.
//
// It is no open relay: it reaches the servers its owner named and nothing else,
// and answers only who asks for this machine by its own name.
package reverse
