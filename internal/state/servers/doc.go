// Package servers knows MCP servers in wide use: what each of them runs as, and what its
// tools do. A server is recognised by the package, program, image or address that a
// client's entry leads to, never by the name the entry gives it. What a command line says
// in a way that is not understood here is not recognised. Pure.
package servers
