// Package choose lets a person pick some of several things at the terminal. It
// is for commands a person has typed, never for a proxy: it takes the whole
// screen and believes what is typed. What it shows must be harmless already.
package choose

import (
	"context"
	"errors"
	"io"
	"os"
	"regexp"
	"sync"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"
	"golang.org/x/term"
)

// Option is one thing to pick.
type Option struct {
	Label  string // one line
	Chosen bool   // to begin with
}

// ErrLeft says that the person left without an answer.
var ErrLeft = errors.New("nothing was chosen")

// Terminal says whether a person is at both ends.
func Terminal(in, out *os.File) bool {
	return term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd()))
}

// rim is what the form needs besides its options: title, help, and the lines
// that tell of more above and below.
const rim = 4

// Several asks and returns the indices that were chosen, in order; none is an
// answer too.
func Several(ctx context.Context, in, out *os.File, title string, options []Option) ([]int, error) {
	width, height, err := term.GetSize(int(out.Fd()))
	if err != nil {
		return nil, err
	}
	picked := []int{}
	all := make([]huh.Option[int], len(options))
	for i, o := range options {
		all[i] = huh.NewOption(o.Label, i).Selected(o.Chosen)
	}
	field := huh.NewMultiSelect[int]().Title(title).Options(all...).Value(&picked).
		Filterable(len(options) > height).
		Height(max(min(len(options)+2, height-rim), 3))
	err = ask(ctx, in, out, field, width, height)
	if errors.Is(err, ErrLeft) {
		return nil, err
	}
	return picked, err
}

// One asks and returns the index of one answer; the first is preset. The
// description may have several lines.
func One(ctx context.Context, in, out *os.File, title, description string, answers []string) (int, error) {
	width, height, err := term.GetSize(int(out.Fd()))
	if err != nil {
		return 0, err
	}
	picked := 0
	all := make([]huh.Option[int], len(answers))
	for i, a := range answers {
		all[i] = huh.NewOption(a, i)
	}
	field := huh.NewSelect[int]().Title(title).Description(description).Options(all...).Value(&picked)
	err = ask(ctx, in, out, field, width, height)
	return picked, err
}

// ask shows one field until it is answered or left.
func ask(ctx context.Context, in, out *os.File, field huh.Field, width, height int) error {
	bindings := huh.NewDefaultKeyMap()
	bindings.Quit.SetKeys("ctrl+c", "esc")
	was, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return err
	}
	defer func() { _ = term.Restore(int(in.Fd()), was) }()
	keyboard := newKeys(in)
	defer keyboard.stop()
	form := huh.NewForm(huh.NewGroup(field)).WithKeyMap(bindings).WithTheme(huh.ThemeFunc(huh.ThemeBase)).
		WithWidth(width).WithAccessible(false).
		WithProgramOptions(tea.WithInput(keyboard), tea.WithOutput(screen{out}), tea.WithWindowSize(width, height),
			tea.WithEnvironment([]string{"TERM=vt100", "NO_COLOR=1"}))
	err = form.RunWithContext(ctx)
	if errors.Is(err, huh.ErrUserAborted) || errors.Is(err, tea.ErrInterrupted) {
		return ErrLeft
	}
	return err
}

// terminalQueries is what bubbletea asks of the terminal beside the picture. The answers
// of a terminal can come after we have ended, and would be typed into the shell.
var terminalQueries = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x1b\[(\?[0-9;]*\$p|\?u|[=>][0-9;]*[um])`)
})

// screen is the terminal without those queries, and no file to bubbletea, which
// would ask a file for its size while it draws.
type screen struct{ tty io.Writer }

func (s screen) Write(p []byte) (int, error) {
	if _, err := s.tty.Write(terminalQueries().ReplaceAll(p, nil)); err != nil {
		return 0, err
	}
	return len(p), nil
}
