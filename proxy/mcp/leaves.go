package mcp

import (
	"strings"

	"github.com/tidwall/gjson"
)

// leaves visits every string, number and boolean in v, a value proxy/frame has
// admitted, at any depth; name is the member that holds it, "" in an array. It
// goes over the text once: to walk level by level with gjson looks at what lies
// deepest once for every level above it.
func leaves(v gjson.Result, visit func(name string, leaf gjson.Result)) {
	name := ""
	for rest := v.Raw; rest != ""; {
		n := 1
		switch rest[0] {
		case '{', '[', ',':
			name = ""
		case '"':
			n = stringLen(rest)
			token := gjson.Parse(rest[:n])
			if strings.HasPrefix(strings.TrimLeft(rest[n:], " \t"), ":") {
				name = token.Str
			} else {
				visit(name, token)
			}
		case 'n':
			n = len("null")
		case ' ', '\t', ':', '}', ']':
		default:
			if n = strings.IndexAny(rest, ",]} \t"); n < 0 {
				n = len(rest)
			}
			visit(name, gjson.Parse(rest[:n]))
		}
		rest = rest[n:]
	}
}

// stringLen is the length of the JSON string s begins with, quotes included.
func stringLen(s string) int {
	i := 1
	for ; s[i] != '"'; i++ {
		if s[i] == '\\' {
			i++
		}
	}
	return i + 1
}
