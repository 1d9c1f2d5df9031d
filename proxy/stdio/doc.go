// Package stdio runs an MCP server as a child process and speaks to it over
// its standard streams (MCP 2025-11-25 basic/transports, "stdio").
//
// The child lives in a process group of its own, so that whatever it started
// ends with it. Its stderr is the descriptor it was given; nothing here reads
// it. Frames are not known in this package: it moves bytes and ends processes.
package stdio
