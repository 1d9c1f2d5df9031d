package choose

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"
	"charm.land/lipgloss/v2"
)

// footRows is the number of rows below the options: a ruler, and the help for keys.
const footRows = 2

// form is one huh field on the whole screen.
type form struct {
	field       huh.Field
	describe    func(string)
	title       string
	description string
	rows        int // number of options
	chosen      func() int
	filters     bool
	filtering   func() bool // reports whether letters are part of the filter's text
	typed       bool        // the person types the answer

	width, height  int
	sight          int // number of options that fit on the screen
	answered, left bool
}

// newSeveralForm returns a form in which a person chooses any number of the options. *chosen gets
// the indexes of the chosen options.
func newSeveralForm(title string, options []Option, width, height int, chosen *[]int) *form {
	var all []huh.Option[int]
	for i, label := range cutLabels(options, width) {
		all = append(all, huh.NewOption(label, i))
		if options[i].Chosen {
			*chosen = append(*chosen, i)
		}
	}
	field := huh.NewMultiSelect[int]().Title(title).Value(chosen).Options(all...).Filterable(len(options) > height-footRows-1)
	f := &form{
		field: field, describe: func(s string) { field.Description(s) }, title: title, rows: len(options), chosen: func() int { return len(*chosen) },
		filters: len(options) > height-footRows-1, filtering: field.GetFiltering,
	}
	f.setUp()
	field.Update(tea.KeyPressMsg{Code: tea.KeyHome}) // huh starts at the first chosen option
	return f
}

// newAnswerForm returns a form in which a person chooses one of the answers. *answer gets the index
// of the chosen answer.
func newAnswerForm(title, description string, answers []string, width int, answer *int) *form {
	var all []huh.Option[int]
	for i, label := range answers {
		all = append(all, huh.NewOption(cutMiddle(label, width-2), i))
	}
	field := huh.NewSelect[int]().Title(title).Options(all...).Value(answer)
	f := &form{
		field: field, describe: func(s string) { field.Description(s) }, title: title, description: description, rows: len(answers),
		filtering: func() bool { return false },
	}
	f.setUp()
	return f
}

// newTextForm returns a form for a line of text. *text is the line at the start, and gets the
// line that the person enters. check returns the reason why a line cannot be accepted.
func newTextForm(title, description string, text *string, check func(string) error) *form {
	field := huh.NewInput().Title(title).Value(text)
	f := &form{
		field: field, describe: func(s string) { field.Description(s) }, title: title, description: description, rows: 1,
		filtering: func() bool { return false }, typed: true,
	}
	field.Validate(func(s string) error {
		err := check(s)
		if err != nil {
			f.describe(cutMiddle(err.Error(), f.width))
		}
		return err
	})
	f.setUp()
	return f
}

// setUp sets the field's style and keys. Escape closes the form, so the field must not use this
// key.
func (f *form) setUp() {
	plain := lipgloss.NewStyle()
	marked := plain.Foreground(lipgloss.Cyan)
	f.field.WithTheme(huh.ThemeFunc(func(bool) *huh.Styles {
		s := huh.ThemeBase(false)
		s.Focused.Base, s.Focused.Title = plain, plain.Bold(true)
		s.Focused.SelectSelector, s.Focused.MultiSelectSelector = marked.SetString("> "), marked.SetString("> ")
		s.Focused.SelectedPrefix = plain.SetString("[x] ")
		s.Focused.TextInput = huh.TextInputStyles{Cursor: marked, CursorText: plain, Placeholder: plain, Prompt: plain, Text: plain}
		return s
	}))
	keys := huh.NewDefaultKeyMap()
	keys.MultiSelect.SetFilter = key.NewBinding(key.WithKeys("enter"), key.WithDisabled())
	keys.MultiSelect.ClearFilter = key.NewBinding(key.WithDisabled())
	keys.MultiSelect.Submit.SetKeys("enter", "tab")
	keys.Select.Submit.SetKeys("enter", "tab")
	keys.Select.Filter.SetEnabled(false)
	f.field.WithKeyMap(keys)
	f.field.WithPosition(huh.FieldPosition{Group: 0, GroupCount: 1, Field: 0, FirstField: 0, LastField: 0})
	f.field.Focus()
}

// Init makes the field take keys. The field's own Init takes the focus away from a line of text, so
// Focus must follow.
func (f *form) Init() tea.Cmd { return tea.Batch(f.field.Init(), f.field.Focus()) }

func (f *form) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if f.answered || f.left { // input after the answer changes nothing
		return f, nil
	}
	if msg == huh.NextField() {
		f.answered = true
		return f, tea.Quit
	}
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		f.resize(msg.Width, msg.Height)
		return f, nil
	case tea.KeyPressMsg:
		switch name := msg.String(); {
		case name == "esc", name == "ctrl+c":
			f.left = true
			return f, tea.Quit
		case f.filtering() && (name == "up" || name == "down"): // huh would move the cursor out of a list that the filter has emptied
			return f, nil
		case name == "/" && f.filters && !f.filtering(): // huh would draw the filtered options above the screen if the cursor were not on the first option
			f.field.Update(tea.KeyPressMsg{Code: tea.KeyHome})
		}
	}
	_, cmd := f.field.Update(msg)
	return f, cmd
}

// resize gives the field all rows of the screen except the foot. On a low screen it cuts the
// description, so that the answers stay visible.
func (f *form) resize(width, height int) {
	f.width, f.height = width, height
	head := lipgloss.Height(lipgloss.Wrap(f.title, width, ",.-; "))
	if f.description != "" {
		lines := strings.Split(lipgloss.Wrap(f.description, width, ",.-; "), "\n")
		if room := max(1, height-footRows-head-f.rows); len(lines) > room {
			lines = append(lines[:room-1], "…")
		}
		f.describe(strings.Join(lines, "\n"))
		head += len(lines)
	}
	f.sight = max(1, min(f.rows, height-footRows-head))
	f.field.WithWidth(width).WithHeight(head + f.sight)
	f.field.View()
	f.field.Update(tea.KeyPressMsg{}) // a message without a key makes huh scroll to the cursor
}

func (f *form) View() tea.View {
	if f.answered || f.left || f.width == 0 {
		return tea.View{AltScreen: true}
	}
	return tea.View{AltScreen: true, Content: f.field.View() + "\n" + f.ruleLine() + "\n" + f.helpLine()}
}

// ruleLine returns the line between the options and the help. It contains the number of chosen
// options.
func (f *form) ruleLine() string {
	text := ""
	if f.chosen != nil {
		text = fmt.Sprintf("%d of %d chosen ", f.chosen(), f.rows)
	}
	if f.sight < f.rows {
		text += fmt.Sprintf("· %d in sight ", f.sight)
	}
	return cutMiddle(text+strings.Repeat("─", max(0, f.width-lipgloss.Width(text))), f.width)
}

// helpLine returns the help for keys. It begins with the most important key and is cut to the
// screen's width.
func (f *form) helpLine() string {
	keys := []string{"Return goes on", "Esc leaves", "↑ ↓ move"}
	switch {
	case f.typed:
		keys = keys[:2]
	case f.filtering():
		keys = []string{"Return sets the filter", "Esc leaves"}
	case f.chosen != nil:
		keys = append([]string{"Space chooses"}, append(keys, "Ctrl-A all")...)
		if f.filters {
			keys = append(keys, "/ filter")
		}
	}
	for len(keys) > 1 && lipgloss.Width(strings.Join(keys, " · ")) > f.width {
		keys = keys[:len(keys)-1]
	}
	return strings.Join(keys, " · ")
}

// cutLabels shortens labels to the width of the screen. Labels stay distinct, because huh
// identifies an option by its label.
func cutLabels(options []Option, width int) []string {
	labels, used := make([]string, len(options)), map[string]int{}
	for i, o := range options {
		label := cutMiddle(o.Label, width-len("> [ ] "))
		if used[label]++; used[label] > 1 {
			mark := fmt.Sprintf(" (%d)", used[label])
			label = cutMiddle(o.Label, width-len("> [ ] ")-len(mark)) + mark
		}
		labels[i] = label
	}
	return labels
}

// cutMiddle shortens text that is too wide. It cuts the middle, because the end of a path says
// which file it is.
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
