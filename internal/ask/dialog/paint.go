package dialog

import (
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/clawai/clawai/internal/ask/view"
)

// Styles for words and signs. The words and signs must say everything without a style, because a
// screen may have no colours.
var (
	bold  = lipgloss.NewStyle().Bold(true)
	red   = lipgloss.NewStyle().Foreground(lipgloss.Color("1"))
	green = lipgloss.NewStyle().Foreground(lipgloss.Color("2"))
	alarm = bold.Foreground(lipgloss.Color("1"))
	amber = lipgloss.NewStyle().Foreground(lipgloss.Color("3"))
	none  = lipgloss.NewStyle()
)

// RenderLook returns s in the colour of look.
func RenderLook(s string, look view.Look) string {
	return [...]lipgloss.Style{view.Plain: none, view.Allowed: green, view.Asked: amber, view.Refused: red}[look].Render(s)
}

// RenderBold returns s in bold. If alarms is true and the screen has colours, s is also red.
func RenderBold(s string, alarms bool) string {
	if alarms {
		return alarm.Render(s)
	}
	return bold.Render(s)
}

// RenderSelected returns a row in the style of the selected row.
func RenderSelected(s string) string { return lipgloss.NewStyle().Reverse(true).Render(s) }

// paintRows gives each row the style of its kind: a headline, a reason for care, an added or
// removed line. The start of a row shows its kind, and no foreign value can imitate this start. A
// row that continues another one gets the same style.
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
