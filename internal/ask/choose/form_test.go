package choose

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

var styles = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// asking is a form, and what was chosen in it.
type asking struct {
	*form
	chosen []int
}

func ofMany(n int) *asking {
	var options []Option
	for i := range n {
		options = append(options, Option{Label: fmt.Sprintf("server %02d", i)})
	}
	a := &asking{}
	a.form = newSeveralForm("Which?", options, 40, 12, &a.chosen)
	a.Update(tea.WindowSizeMsg{Width: 40, Height: 12})
	return a
}

// types presses keys, each a name or the letter itself.
func (a *asking) types(keys ...string) *asking {
	codes := map[string]tea.KeyPressMsg{
		"down": {Code: tea.KeyDown}, "up": {Code: tea.KeyUp}, "end": {Code: tea.KeyEnd}, "enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape},
		"backspace": {Code: tea.KeyBackspace}, "space": {Code: tea.KeySpace, Text: " "}, "ctrl+a": {Code: 'a', Mod: tea.ModCtrl}, "ctrl+d": {Code: 'd', Mod: tea.ModCtrl},
	}
	for _, k := range keys {
		msg, named := codes[k]
		if !named {
			msg = tea.KeyPressMsg{Code: []rune(k)[0], Text: k}
		}
		if _, cmd := a.Update(msg); cmd != nil && k == "enter" {
			a.Update(cmd())
		}
		a.View() // bubbletea draws behind each message
	}
	return a
}

func TestTheCursorStaysInSight(t *testing.T) {
	for _, keys := range [][]string{{"end"}, {"end", "down"}, {"up"}, {"ctrl+d", "ctrl+d", "up"}, {"end", "g"}, strings.Split(strings.Repeat("j", 25), "")} {
		l := ofMany(30).types(keys...)
		view := styles.ReplaceAllString(l.View().Content, "")
		if n := strings.Count(view, "> "); n != 1 || !strings.Contains(view, "> [ ] server") || strings.Count(view, "\n") > 11 {
			t.Errorf("%v: %d cursors\n%s", keys, n, view)
		}
	}
}

func TestChoosing(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want []int
		done bool
	}{
		{[]string{"enter"}, nil, true},
		{[]string{"esc"}, nil, false},
		{[]string{"down", "space", "j", "x", "enter"}, []int{1, 2}, true},
		{[]string{"space", "space", "enter"}, nil, true},
		{[]string{"/", "2", "enter", "ctrl+a", "enter"}, []int{2, 12, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29}, true},
		{[]string{"/", "2", "7", "enter", "space", "/", "backspace", "backspace", "enter", "enter"}, []int{27}, true},
		{[]string{"/", "x", "enter"}, nil, false},                                     // x is a letter here
		{[]string{"/", "x", "down", "up", "enter", "space", "enter"}, []int{0}, true}, // of none that is left, none is taken
	} {
		l := ofMany(30).types(c.keys...)
		if got := l.chosen; fmt.Sprint(got) != fmt.Sprint(c.want) || l.answered != c.done {
			t.Errorf("%v: %v, answered %v", c.keys, got, l.answered)
		}
	}
}

// In a window that is too low the description gives way, and says so; the title, the
// answers and the keys stay.
func TestALowWindowKeepsTheAnswers(t *testing.T) {
	var answer int
	l := newAnswerForm("Rule 1", "from\nthere\nto here", []string{"Drop", "Take", "Ask"}, 40, &answer)
	for height, want := range map[int]string{
		7: "Rule 1|…|> Drop|  Take|  Ask", 8: "Rule 1|from|…|> Drop|  Take|  Ask", 9: "Rule 1|from|there|to here|> Drop|  Take|  Ask",
	} {
		l.Update(tea.WindowSizeMsg{Width: 40, Height: height})
		lines := strings.Split(styles.ReplaceAllString(l.View().Content, ""), "\n")
		for i := range lines {
			lines[i] = strings.TrimRight(lines[i], " ")
		}
		if got := strings.Join(lines[:len(lines)-footRows], "|"); got != want || len(lines) != height {
			t.Errorf("%d rows: %d, %s; want %s", height, len(lines), got, want)
		}
	}
}

// huh knows an option by its label: two that look alike on a narrow screen stay two.
func TestLabelsStayApart(t *testing.T) {
	a := &asking{}
	a.form = newSeveralForm("Which?", []Option{{Label: "a very long label of one"}, {Label: "a very long label of one"}}, 20, 12, &a.chosen)
	a.Update(tea.WindowSizeMsg{Width: 20, Height: 12})
	if a.types("space", "enter"); fmt.Sprint(a.chosen) != "[0]" {
		t.Errorf("%v\n%s", a.chosen, a.View().Content)
	}
}
