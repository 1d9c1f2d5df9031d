package mcp

import (
	"strings"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// Limits of the names that one list result adds to the record.
const (
	maxDeclared      = 4096
	maxDeclaredBytes = 256 << 10
)

// DeclaredNames returns the names in the result of a list method, in order: names of tools and
// prompts, URIs (or URI templates) of resources and skills. They are for the record, so their size
// is limited. It returns none for a result of another form.
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

// ListsTold returns the kinds of lists for which a server promises change notifications in its
// answer to initialize.
func ListsTold(result []byte) (kinds []string) {
	all := jsonscan.ValueOf(result).Member("capabilities")
	for _, kind := range []string{"tools", "prompts", "resources"} {
		if all.Member(kind).Member("listChanged") == "true" {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// HasCursor reports whether a list request asks for the second or a later page.
func HasCursor(params []byte) bool {
	return jsonscan.ValueOf(params).Member("cursor").Kind() == jsonscan.String
}
