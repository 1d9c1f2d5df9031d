package dialog

import (
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/clawai/clawai/internal/ask/view"
)

// The looks that carry a meaning. Where the screen has no colours the words and signs
// that they stand on say the same.
var (
	bold  = lipgloss.NewStyle().Bold(true)
	red   = lipgloss.NewStyle().Foreground(lipgloss.Color("1"))
	green = lipgloss.NewStyle().Foreground(lipgloss.Color("2"))
	alarm = bold.Foreground(lipgloss.Color("1"))
	none  = lipgloss.NewStyle()
)

// RenderBold gives bold, and red where that alarms and the screen has colours.
func RenderBold(s string, alarms bool) string {
	if alarms {
		return alarm.Render(s)
	}
	return bold.Render(s)
}

// RenderSelected gives the row that a cursor is on.
func RenderSelected(s string) string { return lipgloss.NewStyle().Reverse(true).Render(s) }

// paintRows gives rows the look of what they are: the headline, a reason for care, a line
// that comes or goes. They are told by how they begin, which no value can imitate; a row
// that goes on with another looks like it.
func paintRows(rows []string, headed bool) []string {
	looks := []struct {
		begins string
		style  lipgloss.Style
	}{{view.Careful, red}, {view.ChangePrefix('+'), green}, {view.ChangePrefix('-'), red}}
	out := make([]string, len(rows))
	style := none
	for i, row := range rows {
		if !strings.HasPrefix(row, view.Continued) {
			style = none
			for _, look := range looks {
				if strings.HasPrefix(row, look.begins) {
					style = look.style
				}
			}
			if i == 0 && headed {
				style = bold
			}
		}
		out[i] = style.Render(row)
	}
	return out
}
