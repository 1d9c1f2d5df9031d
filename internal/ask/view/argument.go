package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/escape"
)

// mainNames lists the arguments that tell a person most about a call, the most useful first. The
// names are in lower case and without signs between words.
var mainNames = append(slices.Clone(mcp.FileArguments),
	"command", "cmd", "script", "url", "uri", "query", "sql", "q", "pattern", "expression", "selector", "name", "title", "id",
)

// argument is a member of a call's arguments.
type argument struct{ name, value string }

// MainArgument returns the value of the argument that tells a person most about a call. If no
// argument is in mainNames, it returns all arguments. The text comes from the call and is not
// harmless.
func MainArgument(args []byte) string {
	all, ok := parseArguments(args)
	if !ok {
		return escape.ReadableJSON(args)
	}
	for _, name := range mainNames {
		for _, a := range all {
			if mcp.PlainName(a.name) == name {
				return a.value
			}
		}
	}
	words := make([]string, len(all))
	for i, a := range all {
		words[i] = a.name + "=" + a.value
	}
	return strings.Join(words, " ")
}

// parseArguments returns the members of a JSON object in their order. ok is false if src is not an
// object.
func parseArguments(src []byte) (all []argument, ok bool) {
	if len(src) == 0 {
		return nil, true
	}
	d := json.NewDecoder(bytes.NewReader(src))
	if open, err := d.Token(); err != nil || open != json.Delim('{') || !json.Valid(src) {
		return nil, false
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, false
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, false
		}
		all = append(all, argument{fmt.Sprint(name), valueText(value)})
	}
	return all, true
}

// valueText returns a JSON value as a person writes it: a string without its quotes; for a list
// of strings, the first string and the number of further strings.
func valueText(value json.RawMessage) string {
	var text string
	if value[0] == '"' && json.Unmarshal(value, &text) == nil {
		return text
	}
	var several []string
	if json.Unmarshal(value, &several) == nil && len(several) > 0 {
		if len(several) == 1 {
			return several[0]
		}
		return fmt.Sprintf("%s and %d more", several[0], len(several)-1)
	}
	return escape.ReadableJSON(value)
}
