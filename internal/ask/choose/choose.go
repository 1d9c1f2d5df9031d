// Package choose lets a person pick several things at the terminal. Only commands that a person has
// typed may use it, because it takes the whole screen and trusts the input. A proxy must not use
// it. The caller must pass only texts that are already harmless.
package choose

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"golang.org/x/term"

	terminal "github.com/clawai/clawai/internal/text/term"
)

// Option is one thing to pick.
type Option struct {
	Label  string // text of one line
	Chosen bool   // selected at the start
}

// ErrLeft means that the person closed the form without an answer.
var ErrLeft = errors.New("nothing was chosen")

// HasTerminal reports whether input and output are terminals.
func HasTerminal(in, out *os.File) bool {
	return term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd()))
}

// PickSeveral shows the options and returns the indexes of those that the person chose, in order.
// The person may choose none.
func PickSeveral(ctx context.Context, in, out *os.File, title string, options []Option) ([]int, error) {
	width, height := screenSize(out)
	picked := []int{}
	if err := runForm(ctx, in, out, newSeveralForm(title, options, width, height, &picked)); err != nil {
		return nil, err
	}
	return picked, nil
}

// PickAnswer shows the answers and returns the index of the chosen one. The first answer is
// selected at the start. The description may have several lines.
func PickAnswer(ctx context.Context, in, out *os.File, title, description string, answers []string) (answer int, err error) {
	width, _ := screenSize(out)
	err = runForm(ctx, in, out, newAnswerForm(title, description, answers, width, &answer))
	return answer, err
}

// EnterText asks for a line of text and returns it. The person edits a line that at first contains
// the argument text. check returns the reason why a line cannot be accepted, as harmless text. The
// description may have several lines.
func EnterText(ctx context.Context, in, out *os.File, title, description, text string, check func(string) error) (string, error) {
	err := runForm(ctx, in, out, newTextForm(title, description, &text, check))
	return text, err
}

// screenSize returns the columns and rows of a terminal, or 80 and 24 if they are unknown.
func screenSize(out *os.File) (width, height int) {
	if width, height, err := term.GetSize(int(out.Fd())); err == nil && width > 0 && height > 0 {
		return width, height
	}
	return 80, 24
}

// runForm shows the form until the person answers or closes it.
func runForm(ctx context.Context, in, out *os.File, f *form) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer stop()
	profile := colorprofile.Ascii
	if name := os.Getenv("TERM"); os.Getenv("NO_COLOR") == "" && name != "" && name != "dumb" {
		profile = colorprofile.ANSI
	}
	keyboard := newKeys(in)
	defer keyboard.stop()
	_, err := tea.NewProgram(f, tea.WithContext(ctx), tea.WithInput(keyboard), tea.WithOutput(screen{out}), tea.WithoutSignalHandler(),
		tea.WithColorProfile(profile), tea.WithEnvironment([]string{"TERM=vt100"})).Run()
	if ctx.Err() != nil || err == nil && !f.answered {
		return ErrLeft
	}
	return err
}

// screen is the output terminal. It removes the queries that bubbletea sends to the terminal.
type screen struct{ *os.File }

func (s screen) Write(p []byte) (int, error) {
	if _, err := s.File.Write(terminal.RemoveQueries(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}
