package view

import (
	"path"
	"strings"

	"github.com/clawai/clawai/internal/term"
)

func stringArg(path, s string) Arg {
	a := Arg{Path: path, Type: "string", Value: term.Value(s), Clean: cleaned(s)}
	a.Folded = !strings.HasSuffix(a.Value, `"`)
	for line := range strings.SplitSeq(s, "\n") {
		a.Whole = append(a.Whole, term.Visible(line))
	}
	return a
}

// tokenArg is a value that is no string, as written.
func tokenArg(path, token string) Arg {
	a := Arg{Path: path, Type: "number", Value: strings.Trim(term.Value(token), `"`), Whole: []string{token}}
	switch token[0] {
	case 't', 'f':
		a.Type = "boolean"
	case 'n':
		a.Type = "null"
	case '{':
		a.Type = "object"
	case '[':
		a.Type = "array"
	}
	return a
}

// cleaned is what a path that climbs or stutters comes to, in quotes; "" when
// it is no such path.
func cleaned(s string) string {
	if !strings.HasPrefix(s, "/") && !strings.HasPrefix(s, ".") && !strings.HasPrefix(s, "~") {
		return ""
	}
	if c := path.Clean(s); c != s && c != strings.TrimSuffix(s, "/") {
		return term.Value(c)
	}
	return ""
}
