package mcp

import (
	"strings"

	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy"
)

// maxToolName is the maximum length in bytes of a tool's name. If a name is longer, the annotations
// of its tool are not kept.
const maxToolName = 1 << 10

// ToolAssurances returns the favourable annotations in the result of a tools/list, by tool name
// (MCP 2025-03-26 server/tools, ToolAnnotations). If a tool is listed twice, it returns only what
// both entries declare. The size of the result is limited, so a listed tool may be missing in it.
func ToolAssurances(result []byte) map[string]policy.Assurances {
	tools := map[string]policy.Assurances{}
	size := 0
	for entry := range jsonscan.ValueOf(result).Member("tools").Elements() {
		member := entry.Member("name")
		if member.Kind() != jsonscan.String {
			continue
		}
		name := member.Text()
		said, _ := readAssurances(entry.Member("annotations"))
		if before, twice := tools[name]; twice {
			tools[name] = before & said
			continue
		}
		if size += len(name); len(name) > maxToolName || size > maxDeclaredBytes || len(tools) == maxDeclared {
			continue
		}
		tools[strings.Clone(name)] = said
	}
	return tools
}

// ReadAssurances reads the annotations of a tool. unread is the name of a member that was ignored:
// it is no hint of the protocol, or its value is neither true nor false. unread is "" if there is
// none.
func ReadAssurances(annotations []byte) (said policy.Assurances, unread string) {
	return readAssurances(jsonscan.ValueOf(annotations))
}

func readAssurances(annotations jsonscan.Value) (said policy.Assurances, unread string) {
	var readOnly, destructive, idempotent, openWorld *bool
	hints := map[string]**bool{"readOnlyHint": &readOnly, "destructiveHint": &destructive, "idempotentHint": &idempotent, "openWorldHint": &openWorld}
	for key, value := range annotations.Members() {
		word := string(value) == "true"
		to := hints[key.Text()]
		if to == nil || !word && string(value) != "false" {
			unread = key.Text()
			continue
		}
		*to = &word
	}
	return policy.AssurancesFromHints(readOnly, destructive, idempotent, openWorld), unread
}
