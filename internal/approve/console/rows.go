package console

import (
	"strings"

	"github.com/clawai/clawai/internal/approve/view"
)

// continued begins a row that goes on with the one above, so that it is not
// taken for a line of its own.
const continued = "    ↳ "

// wrap cuts harmless lines into rows of at most width cells.
func wrap(lines []string, width int) []string {
	var rows []string
	for _, line := range lines {
		row, used := strings.Builder{}, 0
		for _, r := range line {
			w := view.Cells(r)
			if used+w > width {
				rows = append(rows, row.String())
				row.Reset()
				row.WriteString(continued)
				used = cellsOf(continued)
			}
			row.WriteRune(r)
			used += w
		}
		rows = append(rows, row.String())
	}
	return rows
}

// flow puts the parts of a legend behind each other, broken between parts only.
func flow(parts []string, width int) []string {
	var rows []string
	row := ""
	for _, part := range parts {
		switch {
		case row == "":
			row = part
		case cellsOf(row)+3+cellsOf(part) <= width:
			row += " · " + part
		default:
			rows = append(rows, clip(row, width))
			row = part
		}
	}
	return append(rows, clip(row, width))
}

// clip cuts a row, and shows that it did.
func clip(s string, width int) string {
	if cellsOf(s) <= width {
		return s
	}
	used, end := 1, 0
	for i, r := range s {
		used += view.Cells(r)
		if used > width {
			break
		}
		end = i + len(string(r))
	}
	return s[:end] + "…"
}

// fill makes exactly n rows.
func fill(rows []string, n int) []string {
	if len(rows) > n {
		return rows[:n]
	}
	return append(rows, make([]string, n-len(rows))...)
}

func cellsOf(s string) (n int) {
	for _, r := range s {
		n += view.Cells(r)
	}
	return n
}

// pane is rows of which a window is in sight.
type pane struct {
	id   string
	rows []string
	need int // how many of them must have been in sight before anything is allowed
	top  int
}

func (p *pane) scroll(by, height int) {
	p.top = max(0, min(p.top+by, len(p.rows)-window(len(p.rows), height)))
}

// window is how many rows are in sight beside the line that tells of the rest.
func window(rows, height int) int {
	if rows <= height {
		return height
	}
	return height - 1
}
