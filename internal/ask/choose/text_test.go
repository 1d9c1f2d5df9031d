package choose

import (
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// A text is preset, can be changed, and is no answer until check takes it; the reason is shown.
func TestEnterText(t *testing.T) {
	text := "~/work"
	a := &asking{form: newTextForm("Which folders?", "Several are separated by commas.", &text, func(s string) error {
		if strings.HasSuffix(s, "x") {
			return errors.New("no x")
		}
		return nil
	})}
	a.Init()
	a.Update(tea.WindowSizeMsg{Width: 60, Height: 12})
	see := func(want string) {
		t.Helper()
		if view := styles.ReplaceAllString(a.View().Content, ""); !strings.Contains(view, want) {
			t.Fatalf("%q is not in\n%s", want, view)
		}
	}
	see("~/work")
	see("Several are separated by commas.")
	see("Return goes on · Esc leaves")
	a.types("x", "enter")
	see("no x")
	if a.answered {
		t.Fatal("what is not an answer was taken")
	}
	a.types("backspace", "s", "enter")
	if !a.answered || text != "~/works" {
		t.Errorf("answered %v: %q", a.answered, text)
	}
	a.form = newTextForm("Which?", "", &text, func(string) error { return nil })
	a.Update(tea.WindowSizeMsg{Width: 60, Height: 12})
	if a.types("esc"); a.answered || !a.left {
		t.Error("Esc answers")
	}
}
