package cmdline

import (
	"io"
	"strings"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/text/term"
)

// ScreenWidth returns the number of columns of w, or 0 if w is not a terminal.
func ScreenWidth(w io.Writer) int {
	width, _ := term.ScreenSize(w)
	return width
}

// ScreenHeight returns the number of lines of w, or 0 if w is not a terminal.
func ScreenHeight(w io.Writer) int {
	_, height := term.ScreenSize(w)
	return height
}

// Pad appends spaces to a text until the text has n columns.
func Pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-view.Width(s))) }

// CutMiddle shortens a text to n columns. It removes the middle, because the two ends of a path or
// a name are the useful parts.
func CutMiddle(s string, n int) string {
	if view.Width(s) <= n {
		return s
	}
	runes := []rune(s)
	head, tail := 0, len(runes)
	for room, back := n-1, true; head < tail; back = !back {
		next := head
		if back {
			next = tail - 1
		}
		if room -= view.Cells(runes[next]); room < 0 {
			break
		}
		if back {
			tail--
		} else {
			head++
		}
	}
	return string(runes[:head]) + "…" + string(runes[tail:])
}
