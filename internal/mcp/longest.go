package mcp

import (
	"slices"
	"strings"
)

// readBuffer is the longest line that a client on the TypeScript SDK accepts on stdio: its buffer
// ends the session above 10 MiB, and may also hold the start of the next line.
const readBuffer = 10<<20 - 128<<10

// Clients by the start of the name in their clientInfo, in lower case.
var (
	buffered = []string{ // clients on the TypeScript SDK
		"claude-code", "claude-ai", "cline", "roo", "cursor", "gemini-cli", "qwen", "opencode", "continue", "mcp-inspector", "inspector", "librechat", "n8n",
	}
	unbuffered = []string{"codex", "goose", "zed", "windsurf", "crush", "mcp-go"} // clients without a limit on lines
)

// LongestLine returns the longest line, in bytes, that a client of this name accepts on stdio; 0 if
// no limit is known. bridged means that the server is remote: without clawai, the client would get
// the answer over HTTP, which has no lines. Such a client is assumed to have the limit unless it is
// known to have none.
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
