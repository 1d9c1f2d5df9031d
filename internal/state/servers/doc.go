// Package servers knows widely used MCP servers: how each of them is run, and what its tools do. It
// recognises a server by the package, program, image or address in a client's entry, never by the
// name of the entry. It recognises no server in a command line that it does not fully understand.
// The package has no side effects.
package servers
