package mcp

import "strings"

// readBuffer is the longest line that a client on the TypeScript SDK takes on stdio: its
// buffer ends the session above 10 MiB, and may hold the beginning of the next line.
const readBuffer = 10<<20 - 128<<10

// Clients by the beginning of the name under which they introduce themselves, in lower case.
var (
	buffered = []string{ // on the TypeScript SDK
		"claude-code", "claude-ai", "cline", "roo", "cursor", "gemini-cli", "qwen", "opencode", "continue", "mcp-inspector", "inspector", "librechat", "n8n",
	}
	unbuffered = []string{"codex", "goose", "zed", "windsurf", "crush", "mcp-go"} // whose lines have no end
)

// LongestLine gives how long a line may be that a client of this name reads on stdio, in bytes;
// 0 where nothing is known against any. One that would have had its answer over HTTP, which
// has no lines, is taken to have the bound unless it is known to have none.
func LongestLine(name string, bridged bool) int {
	name = strings.ToLower(name)
	switch {
	case namedLike(name, buffered), bridged && !namedLike(name, unbuffered):
		return readBuffer
	}
	return 0
}

func namedLike(name string, with []string) bool {
	for _, w := range with {
		if strings.HasPrefix(name, w) {
			return true
		}
	}
	return false
}
