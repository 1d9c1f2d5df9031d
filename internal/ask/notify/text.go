package notify

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clawai/clawai/policy"
)

// maxName is the maximum number of characters of a name in a notification.
const maxName = 40

// scripts are the writing systems whose letters may stay: they run from left to right and need no
// combining marks.
var scripts = []*unicode.RangeTable{
	unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
}

// harmlessName returns a name from the wire with only digits, _, - and letters of the writing
// systems in scripts. Every other character becomes a dot. So no link remains, because colons
// and slashes are gone.
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

// questionText returns the sentence about one question. The sentence begins with our own word, so
// that no program takes it for an option.
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
