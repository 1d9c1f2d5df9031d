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

// mainNames lists the arguments by which a person recognises a call, the most useful first, in
// lower case and without signs between words.
var mainNames = append(slices.Clone(mcp.FileArguments),
	"command", "cmd", "script", "url", "uri", "query", "sql", "q", "pattern", "expression", "selector", "name", "title", "id",
)

// argument is a member of a call's arguments.
type argument struct{ name, value string }

// MainArgument returns the argument by which a person recognises a call; all arguments when
// none is in mainNames. The text is foreign.
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

// parseArguments returns the members of an object in their order; false when src is not an
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

// valueText returns a value as a person writes it: a text without its quotes, or the first of
// several texts.
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
