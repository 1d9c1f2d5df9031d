// Package mcp gives a frame its meaning in the Model Context Protocol: which
// method it is, in every released version and both directions, what the rules
// judge in it, and how a refusal is said to whoever asked. It is pure. It never
// decides a call, never changes a byte of a frame, and never builds a path or
// a pattern from what came over the wire.
package mcp
