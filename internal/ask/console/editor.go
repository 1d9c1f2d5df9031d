package console

import (
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/text/term"
)

// maxTyped is the maximum number of characters in a line that the person writes.
const maxTyped = 500

// editor is one line that the person writes: a filter or a note.
type editor struct {
	label string
	text  []rune
	done  func(text string) // gets the text on Return; Esc does not call it
}

// pressKey handles one key. It reports whether the person has finished the line.
func (e *editor) pressKey(k tea.KeyPressMsg) (over bool) {
	switch k.String() {
	case "enter":
		e.done(string(e.text))
		return true
	case "esc", "ctrl+d":
		return true
	case "backspace", "ctrl+h":
		e.text = e.text[:max(0, len(e.text)-1)]
	case "ctrl+u":
		e.text = nil
	case "ctrl+w":
		e.dropWord()
	default:
		e.insertText(k.Text)
	}
	return false
}

// insertText inserts the visible characters of a typed or pasted text.
func (e *editor) insertText(s string) {
	for _, r := range s {
		if unicode.IsSpace(r) {
			r = ' '
		}
		if len(e.text) < maxTyped && r != utf8.RuneError && unicode.IsPrint(r) {
			e.text = append(e.text, r)
		}
	}
}

func (e *editor) dropWord() {
	n := len(e.text)
	for n > 0 && e.text[n-1] == ' ' {
		n--
	}
	for n > 0 && e.text[n-1] != ' ' {
		n--
	}
	e.text = e.text[:n]
}

// renderRow returns the line for a screen of this width. If the line is too long, its start is cut.
func (e *editor) renderRow(width int) string {
	text := []rune(term.VisibleText(string(e.text)))
	room := max(1, width-view.Width(e.label)-2)
	for len(text) > 0 && view.Width(string(text)) > room {
		text = text[1:]
	}
	return view.Cut(e.label+" "+string(text)+"_", width)
}
