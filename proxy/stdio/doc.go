// Package stdio runs an MCP server as a child process and communicates over its standard streams
// (MCP 2025-11-25 basic/transports, "stdio").
//
// The child has its own process group, so that its own children end with it. Its stderr is the
// descriptor that it was given; this package does not read it. This package does not parse
// frames: it moves bytes and ends processes.
package stdio
