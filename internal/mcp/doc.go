// Package mcp interprets a frame by the Model Context Protocol. It knows the methods of every
// released version in both directions. It finds the calls that the rules judge in a frame, and
// writes the text of a refusal. The package has no side effects. It never decides about a call,
// never changes a byte of a frame, and never builds a path or a pattern from a message.
package mcp
