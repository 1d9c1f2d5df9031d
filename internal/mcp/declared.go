package mcp

import (
	"strings"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// The bounds of what one list result puts into the record.
const (
	maxDeclared      = 4096
	maxDeclaredBytes = 256 << 10
)

// DeclaredNames gives what the result of a list method declares: the names of tools and
// prompts, the URIs (or URI templates) of resources and skills, in order. It is
// for the record: bounded, and empty where the result has another shape.
func DeclaredNames(method string, result []byte) []string {
	list, label := "", ""
	switch method {
	case "tools/list":
		list, label = "tools", "name"
	case "prompts/list":
		list, label = "prompts", "name"
	case "resources/list":
		list, label = "resources", "uri"
	case "resources/templates/list":
		list, label = "resourceTemplates", "uriTemplate"
	case "skills/list":
		list, label = "skills", "uri"
	default:
		return nil
	}
	var names []string
	size := 0
	for entry := range jsonscan.ValueOf(result).Member(list).Elements() {
		name := entry.Member(label)
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

// ListsTold gives the kinds of lists of which a server says in its answer to initialize that
// it tells of changes: of those its client may be told.
func ListsTold(result []byte) (kinds []string) {
	all := jsonscan.ValueOf(result).Member("capabilities")
	for _, kind := range []string{"tools", "prompts", "resources"} {
		if all.Member(kind).Member("listChanged") == "true" {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// HasCursor says of a request for a list that it asks for what follows another page.
func HasCursor(params []byte) bool {
	return jsonscan.ValueOf(params).Member("cursor").Kind() == jsonscan.String
}
