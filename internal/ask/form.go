package ask

import (
	"context"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/clawai/clawai/internal/ask/dialog"
	"github.com/clawai/clawai/internal/text/term"
)

var errTooSmall = errors.New("the window is too small to show the question")

// form is a single question on the terminal. The letters of the choices do nothing, because a
// person may type a line for the program that uses the same terminal, and a letter of that line
// could allow the call.
type form struct {
	question dialog.Question
	fits     bool
	answer   string
	err      error
}

// askForm shows the page on tty and returns the word of the chosen answer. Esc, Ctrl-C and every
// error deny.
func askForm(ctx context.Context, tty *term.Tty, p dialog.Page, grace time.Duration, color bool) (string, error) {
	p.Hints = append([]string{"Esc " + p.Choices[0].Brief}, p.Hints...)
	f := &form{question: dialog.Question{Page: p, Menu: true, Grace: &dialog.Grace{For: grace, Now: time.Now}}}
	var loop dialog.Loop
	if err := errors.Join(loop.Run(ctx, tty, f, color), f.err); err != nil {
		return "", err
	}
	if f.answer == "" {
		return "", errors.New("the question ended without an answer")
	}
	return f.answer, nil
}

func (f *form) Init() tea.Cmd { return nil }

// drawMsg draws the form again when the wait is over and keys count as answers.
type drawMsg struct{}

func (f *form) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	q := &f.question
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		first := !f.fits
		if f.fits = q.FitWindow(msg.Width, msg.Height); !f.fits {
			f.err = errTooSmall
			return f, tea.Quit
		}
		if !first {
			return f, nil
		}
		q.Grace.BeginWait()
	case tea.PasteMsg:
		q.RejectInput()
	case tea.KeyPressMsg:
		if f.pressKey(msg.String()); f.answer != "" {
			return f, tea.Quit
		}
	default:
		return f, nil
	}
	later := tea.Tick(q.Grace.For, func(time.Time) tea.Msg { return drawMsg{} })
	// Draw everything again after each key, because a server may have written to the same terminal.
	return f, tea.Batch(later, tea.ClearScreen)
}

func (f *form) pressKey(key string) {
	switch key {
	case "esc", "ctrl+c", "ctrl+d":
		if !f.question.Grace.IsEarly() {
			f.answer = f.question.Choices[0].Word
			return
		}
	}
	if did, c := f.question.PressKey(key); did == dialog.Chosen {
		f.answer = c.Word
	}
}

func (f *form) View() tea.View {
	v := tea.View{AltScreen: true}
	if f.fits && f.answer == "" {
		v.Content = strings.Join(f.question.Rows(), "\n")
	}
	return v
}
