package choose

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// list is the question as a bubbletea model. A library's forms would be linked into
// every proxy, and initialised at its start.
type list struct {
	title, description string
	options            []Option
	several            bool
	width, height      int

	at, top  int    // positions among those shown: of the cursor, of the first line
	filter   string // typed behind /
	typing   bool   // letters go to the filter
	answered bool
	left     bool
}

// foot is what the screen needs below the options: a rule, and what keys do.
const foot = 2

func (l *list) Init() tea.Cmd { return nil }

func (l *list) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		l.width, l.height = msg.Width, msg.Height
		l.moveCursor("")
	case tea.KeyPressMsg:
		return l, l.pressKey(msg)
	}
	return l, nil
}

func (l *list) pressKey(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	switch {
	case l.answered || l.left: // what was typed behind the answer changes nothing
		return nil
	case key == "esc" || key == "ctrl+c":
		l.left = true
		return tea.Quit
	case l.typing && key == "enter":
		l.typing = false
	case l.typing && key == "backspace":
		if r := []rune(l.filter); len(r) > 0 {
			l.filter = string(r[:len(r)-1])
		}
	case l.typing && msg.Text != "":
		l.filter += msg.Text
	case key == "enter" || key == "tab":
		if len(l.filterOptions()) == 0 { // of none that is left, nothing was chosen
			l.filter = ""
			break
		}
		l.answered = true
		return tea.Quit
	case key == "/" && l.canFilter():
		l.typing = true
	case l.several:
		l.toggleOptions(key)
	}
	l.moveCursor(key)
	return nil
}

// toggleOptions chooses an option, or all that are shown, and the other way round.
func (l *list) toggleOptions(key string) {
	shown := l.filterOptions()
	switch {
	case len(shown) == 0:
	case key == "space" || key == "x":
		o := &l.options[shown[l.at]]
		o.Chosen = !o.Chosen
	case key == "ctrl+a":
		all := true
		for _, i := range shown {
			all = all && l.options[i].Chosen
		}
		for _, i := range shown {
			l.options[i].Chosen = !all
		}
	}
}

// moveCursor follows a key, and keeps the cursor among the options that are in sight.
func (l *list) moveCursor(key string) {
	last := len(l.filterOptions()) - 1
	if l.typing && len(key) == 1 {
		key = ""
	}
	switch key {
	case "up", "k", "ctrl+p":
		l.at = l.nextPosition(-1, last)
	case "down", "j", "ctrl+n":
		l.at = l.nextPosition(1, last)
	case "ctrl+u":
		l.at -= l.visibleRows() / 2
	case "ctrl+d":
		l.at += l.visibleRows() / 2
	case "home", "g":
		l.at = 0
	case "end", "G":
		l.at = last
	}
	l.at = max(0, min(l.at, last))
	l.top = max(0, min(l.top, l.at, last-l.visibleRows()+1), l.at-l.visibleRows()+1)
}

// nextPosition gives the position beside the cursor's; a short list of answers is a ring.
func (l *list) nextPosition(by, last int) int {
	if l.several {
		return l.at + by
	}
	return (l.at + by + last + 1) % (last + 1)
}

// filterOptions gives the indices of the options that the filter leaves.
func (l *list) filterOptions() []int {
	var all []int
	for i, o := range l.options {
		if strings.Contains(strings.ToLower(o.Label), strings.ToLower(l.filter)) {
			all = append(all, i)
		}
	}
	return all
}

func (l *list) canFilter() bool { return l.several && len(l.options) > l.height }

// visibleRows gives how many options are in sight: all where answers are few, as their
// description gives way.
func (l *list) visibleRows() int {
	return max(1, min(len(l.options), l.height-foot-len(l.headLines())))
}

// headLines gives the lines above the options, of which one at least is in sight.
func (l *list) headLines() []string {
	title := lipgloss.NewStyle().Bold(true).Render(l.title)
	if l.typing || l.filter != "" {
		title += "  /" + l.filter
	}
	text := title
	if l.description != "" {
		text += "\n" + l.description
	}
	lines := append(strings.Split(lipgloss.NewStyle().Width(l.width).Render(text), "\n"), "")
	room := l.height - foot - 1
	if !l.several {
		room = l.height - foot - len(l.options)
	}
	if room = max(1, room); len(lines) > room {
		lines = append(lines[:room-1], "…")
	}
	return lines
}

func (l *list) View() tea.View {
	if l.answered || l.left || l.width == 0 {
		return tea.View{AltScreen: true}
	}
	lines := l.headLines()
	shown := l.filterOptions()
	end := min(l.top+l.visibleRows(), len(shown))
	for n := l.top; n < end; n++ {
		lines = append(lines, l.optionLine(l.options[shown[n]], n == l.at))
	}
	lines = append(lines, l.ruleLine(len(shown), end), l.helpLine())
	return tea.View{AltScreen: true, Content: strings.Join(lines, "\n")}
}

// optionLine gives an option, no longer than the screen is wide.
func (l *list) optionLine(o Option, cursor bool) string {
	mark, style := "", lipgloss.NewStyle()
	switch {
	case o.Chosen:
		mark = "[x] "
	case l.several:
		mark = "[ ] "
	}
	if cursor {
		mark, style = "> "+mark, style.Foreground(lipgloss.Cyan)
	} else {
		mark = "  " + mark
	}
	return style.Render(mark + cutMiddle(o.Label, l.width-len(mark)))
}

// ruleLine ends the options, and says which of them are in sight where others are not.
func (l *list) ruleLine(shown, end int) string {
	text := ""
	if l.several {
		chosen := 0
		for _, o := range l.options {
			if o.Chosen {
				chosen++
			}
		}
		text = fmt.Sprintf("%d of %d chosen ", chosen, len(l.options))
	}
	if end-l.top < shown {
		text += fmt.Sprintf("· lines %d to %d of %d ", l.top+1, end, shown)
	}
	return cutMiddle(text+strings.Repeat("─", max(0, l.width-lipgloss.Width(text))), l.width)
}

// helpLine gives what keys do, the needed ones first: as many as there is room for.
func (l *list) helpLine() string {
	keys := []string{"Return goes on", "Esc leaves", "↑ ↓ move"}
	switch {
	case l.typing:
		keys = []string{"Return sets the filter", "Esc leaves"}
	case l.several:
		keys = append([]string{"Space chooses"}, append(keys, "Ctrl-A all")...)
	}
	if l.canFilter() && !l.typing {
		keys = append(keys, "/ filter")
	}
	for len(keys) > 1 && lipgloss.Width(strings.Join(keys, " · ")) > l.width {
		keys = keys[:len(keys)-1]
	}
	return strings.Join(keys, " · ")
}

// cutMiddle takes out the middle of what is too wide: a path is known by its end.
func cutMiddle(s string, width int) string {
	if lipgloss.Width(s) <= width {
		return s
	}
	runes := []rune(s)
	head, tail := 0, len(runes)
	for room := width - 1; head < tail; {
		w := lipgloss.Width(string(runes[tail-1]))
		if room -= w; room < 0 {
			break
		}
		tail--
		w = lipgloss.Width(string(runes[head]))
		if room -= w; room < 0 {
			break
		}
		head++
	}
	return string(runes[:head]) + "…" + string(runes[tail:])
}
