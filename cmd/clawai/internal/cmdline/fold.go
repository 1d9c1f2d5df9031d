package cmdline

import (
	"strings"

	"github.com/clawai/clawai/internal/ask/view"
)

// FoldLines breaks every line that is wider than n characters on the screen, at its spaces. If the
// line is a row of a table, the rest continues below the last cell that begins in the left half of
// the screen. Otherwise the rest is indented by two more spaces than the line. A command after a
// colon stays on one line, so that a person can paste it. JSON is broken between its members. If n
// is 0, FoldLines changes nothing.
func FoldLines(text string, n int) string {
	if n <= 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if view.Width(line) > n {
			lines[i] = foldLine(line, n)
		}
	}
	return strings.Join(lines, "\n")
}

func foldLine(line string, n int) string {
	start := len(line) - len(strings.TrimLeft(line, " "))
	margin := start + 2
	for at := range line {
		before := line[:at]
		if view.Width(before) > n/2 {
			break
		}
		if at > start && (strings.HasSuffix(before, "  ") || strings.HasSuffix(before, " | ")) {
			start, margin = at, view.Width(before)
		}
	}
	text, command, ok := strings.Cut(line[start:], ": clawai ")
	var words []string
	for word := range strings.SplitSeq(text, " ") {
		if view.Width(word) > n-margin { // JSON has no spaces, so spaces are added where the line may break
			word = strings.ReplaceAll(word, `,"`, `, "`)
		}
		words = append(words, strings.Split(word, " ")...)
	}
	if ok {
		words[len(words)-1] += ":"
		words = append(words, "clawai "+command)
	}
	return line[:start] + strings.Join(wrapWords(words, n-margin), "\n"+strings.Repeat(" ", margin))
}
