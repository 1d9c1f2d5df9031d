package cmdline

import (
	"io"
	"os"
	"strings"

	xterm "golang.org/x/term"

	"github.com/clawai/clawai/internal/ask/view"
)

// ScreenWidth returns the number of columns of w, or 0 if w is not a terminal.
func ScreenWidth(w io.Writer) int {
	width, _ := screenSize(w)
	return width
}

// ScreenHeight returns the number of lines of w, or 0 if w is not a terminal.
func ScreenHeight(w io.Writer) int {
	_, height := screenSize(w)
	return height
}

func screenSize(w io.Writer) (width, height int) {
	f, ok := w.(*os.File)
	if !ok {
		return 0, 0
	}
	width, height, err := xterm.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
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

// WrapWords breaks a text at its spaces into lines of at most n columns. A longer word gets its own
// line. If n is 0, the text stays one line.
func WrapWords(s string, n int) []string {
	if n <= 0 {
		return []string{s}
	}
	return wrapWords(strings.Split(s, " "), n)
}

func wrapWords(words []string, n int) (lines []string) {
	line := ""
	for _, word := range words {
		switch {
		case line == "":
			line = word
		case view.Width(line)+1+view.Width(word) > n:
			lines = append(lines, strings.TrimRight(line, " "))
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
