// Package stdio runs an MCP server as a child process. It communicates over the child's standard
// streams (MCP 2025-11-25 basic/transports, "stdio").
//
// The child has its own process group, so that the child's own processes end with it. The child's
// stderr is a descriptor from the caller, and this package does not read it. This package moves
// bytes and ends processes. It does not parse frames.
package stdio
