package approve

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// environment is what bubbletea knows of ours: a terminal that can do the little
// that all of them can, and no colours, whose number it would look up by
// starting "tmux info".
func environment() []string { return []string{"TERM=vt100", "NO_COLOR=1"} }

// wrap cuts lines into rows of at most width cells. What is cut off goes on
// indented behind a mark, so that it is not taken for a line of its own. Width 0 cuts nothing.
func wrap(lines []string, width int) []string {
	const mark = "    ↳ "
	var rows []string
	for _, line := range lines {
		row, used := strings.Builder{}, 0
		for _, r := range line {
			w := cells(r)
			if width > 0 && used+w > width {
				rows = append(rows, row.String())
				row.Reset()
				row.WriteString(mark)
				used = lipgloss.Width(mark)
			}
			row.WriteRune(r)
			used += w
		}
		rows = append(rows, row.String())
	}
	return rows
}

// clip cuts one line of our own text to the width.
func clip(s string, width int) string { return wrap([]string{s}, width)[0] }

// cells is the width of one character on the screen.
func cells(r rune) int {
	if r < 0x80 {
		return 1
	}
	return lipgloss.Width(string(r))
}
