package mcp

import (
	"strings"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// Limits on what one list result adds to the record.
const (
	maxDeclared      = 4096
	maxDeclaredBytes = 256 << 10
)

// DeclaredNames returns what the result of a list method declares, in order: the names of tools
// and prompts, the URIs (or URI templates) of resources and skills. It is for the record: its
// size is limited, and it is empty for a result of another shape.
func DeclaredNames(method string, result []byte) []string {
	var names []string
	size, list := 0, ListOf(method)
	if list == (ListShape{}) {
		return nil
	}
	for entry := range jsonscan.ValueOf(result).Member(list.Entries).Elements() {
		name := entry.Member(list.Name)
		if name.Kind() != jsonscan.String {
			continue
		}
		text := name.Text()
		if size += len(text); size > maxDeclaredBytes || len(names) == maxDeclared {
			break
		}
		names = append(names, strings.Clone(text))
	}
	return names
}

// ListsTold returns the kinds of lists for which a server's answer to initialize announces change
// notifications.
func ListsTold(result []byte) (kinds []string) {
	all := jsonscan.ValueOf(result).Member("capabilities")
	for _, kind := range []string{"tools", "prompts", "resources"} {
		if all.Member(kind).Member("listChanged") == "true" {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// HasCursor reports whether a list request asks for a page after the first.
func HasCursor(params []byte) bool {
	return jsonscan.ValueOf(params).Member("cursor").Kind() == jsonscan.String
}
