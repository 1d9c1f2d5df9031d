package screen

import (
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/clawai/clawai/internal/approve/view"
)

// Beside is how many rows the question takes beside its facts.
func (q *Question) Beside(width int) int { return 1 + len(q.decision(width)) + len(q.answers(width)) }

// Rows is the question as it was given room by Fit: facts, the line of what is
// out of sight, the decision, the choices and the keys.
func (q *Question) Rows() []string {
	b := q.body()
	end := min(b.top+b.room, len(b.rows))
	rows := Fill(append([]string(nil), b.rows[b.top:end]...), b.room)
	rows = append(rows, q.ruler(b, end))
	for _, row := range q.decision(b.width) {
		rows = append(rows, Bold(row, q.Alarm))
	}
	return append(rows, q.answers(b.width)...)
}

// ruler ends the facts, and tells of those that are out of sight.
func (q *Question) ruler(b *Question, end int) string {
	text := ""
	switch {
	case len(b.rows) <= b.room:
	case b.unread:
		text = view.ReadOn(b.top, end, len(b.rows)) + " "
	default:
		text = b.sight.Rest(b.top, end, len(b.rows)) + " "
	}
	text = Clip(text, b.width)
	return text + strings.Repeat("─", b.width-Cells(text))
}

func (q *Question) decision(width int) []string {
	rows := view.Wrap([]string{q.Decision}, width)
	return rows[:min(len(rows), 2)]
}

// answers is the choices as a menu, where there is one, and what keys do.
func (q *Question) answers(width int) (rows []string) {
	var keys []string
	all := offered(q.Choices)
	for i, c := range all {
		switch {
		case !q.Menu && c.Key != "":
			keys = append(keys, c.Key+" "+c.Brief)
		case !q.Menu:
		case q.Letters:
			rows = append(rows, Clip(cursor(i == q.at)+c.Key+"  "+c.Label, width))
		default:
			rows = append(rows, Clip(cursor(i == q.at)+c.Label, width))
		}
	}
	if q.Menu {
		keys = append(keys, "↑ ↓ choose, Return answers")
	}
	for _, c := range offered(q.Others) {
		keys = append(keys, c.Key+" "+c.Brief)
	}
	legend := Flow(append(keys, q.Hints...), width)
	if q.Prompt == "" && q.Grace.Early() {
		legend = Fill([]string{"One moment…"}, len(legend))
	}
	rows = append(rows, legend...)
	if q.Prompt != "" {
		rows = append(rows, Clip(q.Prompt, width))
	}
	return rows
}

func cursor(on bool) string {
	if on {
		return "> "
	}
	return "  "
}

// Bold is bold, and red where that alarms and the screen has colours.
func Bold(s string, alarm bool) string {
	style := lipgloss.NewStyle().Bold(true)
	if alarm {
		style = style.Foreground(lipgloss.Color("1"))
	}
	return style.Render(s)
}

// Flow puts the parts of a legend behind each other, broken between parts only.
func Flow(parts []string, width int) []string {
	var rows []string
	row := ""
	for _, part := range parts {
		switch {
		case row == "":
			row = part
		case Cells(row)+3+Cells(part) <= width:
			row += " · " + part
		default:
			rows = append(rows, Clip(row, width))
			row = part
		}
	}
	return append(rows, Clip(row, width))
}

// Clip cuts a harmless row, and shows that it did.
func Clip(s string, width int) string {
	if Cells(s) <= width {
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

// Fill makes exactly n rows.
func Fill(rows []string, n int) []string {
	if len(rows) > n {
		return rows[:n]
	}
	return append(rows, make([]string, n-len(rows))...)
}

// Cells is how wide a harmless row is.
func Cells(s string) (n int) {
	for _, r := range s {
		n += view.Cells(r)
	}
	return n
}
