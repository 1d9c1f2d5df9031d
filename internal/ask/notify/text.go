package notify

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clawai/clawai/policy"
)

// maxName is the maximum number of characters shown of a name.
const maxName = 40

// scripts are left-to-right scripts that need no marks.
var scripts = []*unicode.RangeTable{
	unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
}

// harmlessName returns a name from the wire in which every character except digits, _, -, and
// letters of scripts is replaced by a dot. No link survives, because colons and slashes are
// replaced.
func harmlessName(s string) string {
	var b strings.Builder
	for i, n := 0, 0; i < len(s); n++ {
		if n == maxName {
			b.WriteString("…")
			break
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch {
		case r >= '0' && r <= '9', r == '_', r == '-', unicode.IsLetter(r) && unicode.In(r, scripts...):
			b.WriteRune(r)
		default:
			b.WriteRune('·')
		}
	}
	return b.String()
}

// questionText returns the sentence about one question. It begins with a word of ours, so that no
// program takes it for an option.
func questionText(server string, calls []policy.Call) string {
	text := "Server"
	if server != "" {
		text += " " + harmlessName(server)
	}
	text += " asks"
	switch {
	case len(calls) > 1:
		text += " for several things"
	case len(calls) == 1 && len(calls[0].Names) > 0:
		text += subjectVerb(calls[0].Subject) + harmlessName(calls[0].Names[0])
	}
	return text + ". Run: clawai approve"
}

func subjectVerb(s policy.Subject) string {
	switch s {
	case policy.ToolSubject:
		return " to run "
	case policy.ResourceSubject:
		return " to read "
	case policy.PromptSubject:
		return " for the prompt "
	default:
		return " about "
	}
}
