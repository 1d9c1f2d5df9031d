// Package cage makes of what policies say about a server's process (docs/sandbox.md) a cage that
// internal/cage/confine can build: paths without links, what stays shut in them, and what the
// server's own program needs.
package cage
