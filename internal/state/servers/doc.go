// Package servers holds MCP servers in wide use: how each of them is run, and what its tools do. A
// server is recognised by the package, program, image or address that a client's entry leads to,
// never by the name of the entry. A command line that this package does not understand is not
// recognised. The package has no side effects.
package servers
