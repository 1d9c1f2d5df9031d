// Package servers knows widely used MCP servers: how each server is run, and what its tools do. It
// recognises a server by the package, program, image or address in a client's entry, but never by
// the name of the entry. It recognises a server only in a command line that it fully understands.
// The package has no side effects.
package servers
