package mcp

import (
	"slices"
	"strings"
)

// readBuffer is the length in bytes of the longest line that a client with the TypeScript SDK
// accepts on stdio. The SDK's buffer ends the session above 10 MiB. It may also hold the beginning
// of the next line.
const readBuffer = 10<<20 - 128<<10

// Clients, by the beginning of the name in their clientInfo, in lower case.
var (
	buffered = []string{ // clients with the TypeScript SDK
		"claude-code", "claude-ai", "cline", "roo", "cursor", "gemini-cli", "qwen", "opencode", "continue", "mcp-inspector", "inspector", "librechat", "n8n",
	}
	unbuffered = []string{"codex", "goose", "zed", "windsurf", "crush", "mcp-go"} // clients without a limit on the length of lines
)

// LongestLine returns the length in bytes of the longest line that a client of this name accepts on
// stdio, or 0 if no limit is known. bridged means that the server is remote. Without clawai, the
// client would get its answers over HTTP, which has no lines. So any client of a bridged server is
// treated as one with a limit, unless it is known to have no limit.
func LongestLine(name string, bridged bool) int {
	name = strings.ToLower(name)
	switch {
	case namedLike(name, buffered), bridged && !namedLike(name, unbuffered):
		return readBuffer
	}
	return 0
}

func namedLike(name string, with []string) bool {
	return slices.ContainsFunc(with, func(w string) bool { return strings.HasPrefix(name, w) })
}
