package mcp

import (
	"strconv"
	"strings"

	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy"
)

// subjectWord names a call for a reader, as in: the tool "x", the resource "u".
func subjectWord(c policy.Call) string {
	word := ""
	switch c.Subject {
	case policy.ToolSubject:
		word = "the tool"
	case policy.ResourceSubject:
		word = "the resource"
	case policy.PromptSubject:
		word = "the prompt"
	case policy.SamplingSubject:
		return "a sampling request of the server"
	case policy.ElicitationSubject:
		return "a question of the server to its user"
	default:
		if c.Malformed == reasonNoInput {
			return "an input request of the server"
		}
		return "the method " + quoteName(c.Method)
	}
	if len(c.Names) == 0 {
		return word + " of a " + quoteName(c.Method) + " that names none"
	}
	if len(c.Names) > 1 {
		return word + " " + quoteName(c.Names[0]) + " and " + strconv.Itoa(len(c.Names)-1) + " more"
	}
	return word + " " + quoteName(c.Names[0])
}

// quoteName returns a name from a message, escaped and in quotes.
func quoteName(s string) string { return `"` + escapeText(s, 200, `"\`) + `"` }

// visibleText returns a text that is escaped for a place outside quotes.
func visibleText(s string, limit int) string { return escapeText(s, limit, "") }

// escapeText returns at most limit characters of a text. It shows invisible characters as escapes
// and puts a backslash before the characters in special. So the text cannot hide a part of itself
// or end the quotes around it.
func escapeText(s string, limit int, special string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > limit {
			b.WriteString("…")
			break
		}
		switch {
		case strings.ContainsRune(special, r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case textclass.OddInName(r) || !strconv.IsPrint(r):
			b.WriteString(`\u{` + strconv.FormatInt(int64(r), 16) + `}`)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
