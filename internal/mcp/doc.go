// Package mcp interprets a frame by the Model Context Protocol: its method, in every released
// version and both directions; the calls in it that the rules judge; and the text of a refusal. The
// package has no side effects. It never decides a call, never changes a byte of a frame, and never
// builds a path or a pattern from wire input.
package mcp
