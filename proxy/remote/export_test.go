package remote

import "slices"

// OwnHeaders returns the canonical names that ParseHeaders refuses. Mcp-Param-Name stands for all
// the headers that repeat an argument.
func OwnHeaders() []string { return append(slices.Clone(ownHeaders), headerParam+"Name") }
