package dialog

import (
	"strings"

	"github.com/clawai/clawai/internal/ask/view"
)

// FixedRows returns the number of rows that the question needs without its facts.
func (q *Question) FixedRows(width int) int {
	return 1 + len(q.decisionRows(width)) + len(q.answerRows(width))
}

// Rows returns the rows of the question, for the space that FitWindow gave it: facts, the line
// about hidden rows, the decision, the choices and the keys. It returns no empty rows, so that the
// choices stand near the facts.
func (q *Question) Rows() []string {
	b := q.visibleQuestion()
	end := min(b.top+b.room, len(b.rows))
	rows := paintRows(b.rows, b.Headed)[b.top:end]
	rows = append(rows, q.rulerRow(b, end))
	for _, row := range q.decisionRows(b.width) {
		rows = append(rows, RenderBold(row, q.Alarm))
	}
	return append(rows, q.answerRows(b.width)...)
}

// rulerRow returns the line below the facts. The line tells which rows are hidden.
func (q *Question) rulerRow(b *Question, end int) string {
	text := ""
	switch {
	case len(b.rows) <= b.room:
	case b.unread:
		text = view.ReadOn(b.top, end, len(b.rows)) + " "
	default:
		text = b.sight.RestLine(b.top, end, len(b.rows)) + " "
	}
	text = view.Cut(text, b.width)
	return text + strings.Repeat("─", b.width-view.Width(text))
}

func (q *Question) decisionRows(width int) []string {
	rows := view.Wrap([]string{q.Decision}, width)
	return rows[:min(len(rows), 2)]
}

// answerRows returns the menu of choices, if there is one, and the help for keys.
func (q *Question) answerRows(width int) (rows []string) {
	var keys []string
	all := offeredChoices(q.Choices)
	for i, c := range all {
		switch {
		case !q.Menu && c.Key != "":
			keys = append(keys, c.Key+" "+c.Brief)
		case !q.Menu:
		default:
			rows = append(rows, q.choiceRow(c, i == q.at, width))
		}
	}
	if q.Menu {
		keys = append(keys, "↑ ↓ move", "Return answer")
	}
	for _, c := range offeredChoices(q.Others) {
		keys = append(keys, c.Key+" "+c.Brief)
	}
	legend := FlowParts(append(keys, q.Hints...), width)
	if q.Prompt == "" && q.Grace.IsEarly() {
		legend = FillRows([]string{"One moment…"}, len(legend))
	}
	rows = append(rows, legend...)
	if q.Prompt != "" {
		rows = append(rows, view.Cut(q.Prompt, width))
	}
	return rows
}

// choiceRow returns one row of the menu.
func (q *Question) choiceRow(c Choice, at bool, width int) string {
	s := "  "
	if at {
		s = "> "
	}
	if q.Letters && c.Key != "" {
		s += c.Key + "  "
	}
	if s = view.Cut(s+c.Label, width); at {
		return bold.Render(s)
	}
	return s
}

// FlowParts joins the parts of a legend into rows. A row breaks only between two parts.
func FlowParts(parts []string, width int) []string {
	var rows []string
	row := ""
	for _, part := range parts {
		switch {
		case row == "":
			row = part
		case view.Width(row)+3+view.Width(part) <= width:
			row += " · " + part
		default:
			rows = append(rows, view.Cut(row, width))
			row = part
		}
	}
	return append(rows, view.Cut(row, width))
}

// FillRows returns exactly n rows: it cuts rows, or adds empty ones.
func FillRows(rows []string, n int) []string {
	if len(rows) > n {
		return rows[:n]
	}
	return append(rows, make([]string, n-len(rows))...)
}
