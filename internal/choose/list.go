package choose

import (
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

// rim is what the screen needs besides the options: the lines above and below.
const rim = 4

func (l *list) Init() tea.Cmd { return nil }

func (l *list) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		l.width, l.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		return l, l.press(msg)
	}
	return l, nil
}

func (l *list) press(msg tea.KeyPressMsg) tea.Cmd {
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
		if len(l.shown()) == 0 { // of none that is left, nothing was chosen
			l.filter = ""
			break
		}
		l.answered = true
		return tea.Quit
	case key == "/" && l.filterable():
		l.typing = true
	case l.several:
		l.mark(key)
	}
	l.move(key)
	return nil
}

// mark chooses an option, or all that are shown, and the other way round.
func (l *list) mark(key string) {
	shown := l.shown()
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

// move follows a key, and keeps the cursor among the options that are in sight.
func (l *list) move(key string) {
	last := len(l.shown()) - 1
	if l.typing && len(key) == 1 {
		key = ""
	}
	switch key {
	case "up", "k", "ctrl+p":
		l.at = l.step(-1, last)
	case "down", "j", "ctrl+n":
		l.at = l.step(1, last)
	case "ctrl+u":
		l.at -= l.rows() / 2
	case "ctrl+d":
		l.at += l.rows() / 2
	case "home", "g":
		l.at = 0
	case "end", "G":
		l.at = last
	}
	l.at = max(0, min(l.at, last))
	l.top = max(min(l.top, l.at), l.at-l.rows()+1)
}

// step is the position beside the cursor's; a short list of answers is a ring.
func (l *list) step(by, last int) int {
	if l.several {
		return l.at + by
	}
	return (l.at + by + last + 1) % (last + 1)
}

// shown are the indices of the options that the filter leaves.
func (l *list) shown() []int {
	var all []int
	for i, o := range l.options {
		if strings.Contains(strings.ToLower(o.Label), strings.ToLower(l.filter)) {
			all = append(all, i)
		}
	}
	return all
}

func (l *list) filterable() bool { return l.several && len(l.options) > l.height }

// rows is how many options are in sight.
func (l *list) rows() int {
	head := lipgloss.Height(lipgloss.NewStyle().Width(l.width - 2).Render(l.head()))
	return max(1, min(len(l.options), l.height-rim-head))
}

func (l *list) head() string {
	head := l.title
	switch {
	case l.typing:
		head = "/" + l.filter
	case l.filter != "":
		head += "/" + l.filter
	}
	if l.description != "" {
		head += "\n" + l.description
	}
	return head
}

func (l *list) View() tea.View {
	if l.answered || l.left || l.width == 0 {
		return tea.NewView("")
	}
	lines := []string{l.head()}
	shown := l.shown()
	for n := l.top; n < min(l.top+l.rows(), len(shown)); n++ {
		lines = append(lines, l.line(l.options[shown[n]], n == l.at))
	}
	box := lipgloss.NewStyle().PaddingLeft(1).BorderStyle(lipgloss.ThickBorder()).BorderLeft(true).Width(l.width)
	return tea.NewView(box.Render(strings.Join(lines, "\n")) + "\n\n" + lipgloss.NewStyle().MaxWidth(l.width).Render(l.help()))
}

// line is an option; where several are to be chosen, no longer than the screen is wide.
func (l *list) line(o Option, cursor bool) string {
	line := "  "
	if cursor {
		line = "> "
	}
	if !l.several {
		return line + o.Label
	}
	box := "[ ] "
	if o.Chosen {
		box = "[•] "
	}
	return lipgloss.NewStyle().MaxWidth(l.width - 2).Render(line + box + o.Label)
}

func (l *list) help() string {
	if l.typing {
		return "enter set filter • esc leave"
	}
	help := "↑ up • ↓ down • "
	if l.filterable() {
		help += "/ filter • "
	}
	if l.several {
		help = "x toggle • " + help + "ctrl+a all or none • "
	}
	return help + "enter submit • esc leave"
}
