package approve

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/clawai/clawai/internal/approve/canvas"
	"github.com/clawai/clawai/internal/approve/view"
	"github.com/clawai/clawai/internal/term"
)

// The smallest window a question is asked in. Below it, the choices or every
// fact would be out of sight.
const (
	minWidth  = 40
	minFacts  = 3
	restLines = 4 // the rule above the decision, the decision, the footer, and one to spare
)

var errTooSmall = errors.New("the window is too small to show the question")

// form is the question as a bubbletea model: the facts in a window that
// scrolls, and below it, always in sight, the decision line and the choices. A
// library's form would push them off a small screen and take keys typed before it
// was drawn.
type form struct {
	page    page
	grace   time.Duration
	now     func() time.Time
	at      int       // the choice that the cursor points at
	settled time.Time // keys before this moment are not answers
	rows    []string  // facts, wrapped to the width
	top     int       // first row in sight
	need    int       // how many rows must have been in sight to let something through
	sight   view.Sight
	unread  bool // the last key would have let something through before
	width   int
	height  int
	answer  string
	err     error
}

// askForm shows the page on tty and gives the word of the choice. Esc and
// Ctrl-C choose to deny; every error denies.
func askForm(ctx context.Context, tty *term.Tty, p page, grace time.Duration) (string, error) {
	f := &form{page: p, grace: grace, now: time.Now}
	if err := tty.Recheck(); err != nil {
		return "", err
	}
	if err := tty.Keys(); err != nil {
		return "", err
	}
	width, height, err := tty.Size()
	if err != nil {
		return "", errors.Join(err, tty.Lines())
	}
	ctx, cancel := context.WithCancelCause(ctx)
	in := &canvas.Keyboard{End: cancel, From: func(p []byte) (int, error) { return tty.ReadContext(ctx, p) }}
	program := tea.NewProgram(f,
		tea.WithContext(ctx),
		tea.WithInput(in),
		tea.WithOutput(canvas.Screen{W: tty}),
		tea.WithWindowSize(width, height),
		tea.WithEnvironment(environment()),
		tea.WithoutSignalHandler(), // Ask has its own; ours ends the question through ctx
	)
	var resizing sync.WaitGroup
	resizing.Go(func() {
		tty.Resized(ctx, func(w, h int) { program.Send(tea.WindowSizeMsg{Width: w, Height: h}) })
	})
	_, err = program.Run()
	cause := context.Cause(ctx)
	in.Stop()
	resizing.Wait()
	if cause != nil {
		return "", errors.Join(cause, tty.Lines())
	}
	if err = errors.Join(err, f.err, tty.Lines()); err != nil {
		return "", err
	}
	if f.answer == "" {
		return "", errors.New("the question ended without an answer")
	}
	return f.answer, nil
}

// settledMsg redraws the form when keys have become answers.
type settledMsg struct{}

// wait makes the person wait before a key is an answer.
func (f *form) wait() tea.Cmd {
	f.settled = f.now().Add(f.grace)
	return tea.Tick(f.grace, func(time.Time) tea.Msg { return settledMsg{} })
}

// restart goes back to Deny and waits: for input that was not meant for the question.
func (f *form) restart() tea.Cmd {
	f.at = 0
	return f.wait()
}

func (f *form) Init() tea.Cmd { return nil }

func (f *form) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		return f, f.resize(msg.Width, msg.Height)
	case tea.PasteMsg:
		return f, f.restart()
	case tea.KeyPressMsg:
		// Servers may write to the same terminal; every key repaints it.
		return f, tea.Batch(f.press(msg), tea.ClearScreen)
	}
	return f, nil
}

// resize wraps the facts anew and ends the question when it no longer fits.
func (f *form) resize(width, height int) tea.Cmd {
	first := f.height == 0
	f.width, f.height = width, height
	if width < minWidth || f.factRows() < minFacts {
		f.err = errTooSmall
		return tea.Quit
	}
	f.rows, f.need = f.page.facts(width)
	f.scroll(0)
	if first {
		return f.wait()
	}
	return nil
}

// press handles one key. A key that has no meaning here was meant for another
// program: it takes the choice back to Deny.
func (f *form) press(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case f.answer != "": // what was typed behind the answer changes nothing
		return nil
	case f.now().Before(f.settled):
		return f.wait()
	}
	f.unread = false
	switch msg.String() {
	case "esc", "ctrl+c", "ctrl+d":
		f.answer = wordDeny
		return tea.Quit
	case "pgdown":
		f.scroll(f.factRows())
	case "pgup":
		f.scroll(-f.factRows())
	case "home":
		f.scroll(-len(f.rows))
	case "end":
		f.scroll(len(f.rows))
	case "up": // arrows only: with letters a line typed for the program behind us could walk to an allow
		f.at = (f.at + len(f.page.choices) - 1) % len(f.page.choices)
	case "down":
		f.at = (f.at + 1) % len(f.page.choices)
	case "enter":
		word := f.page.choices[f.at].word
		if f.page.lets(word) && !f.sight.End() {
			f.unread = true
			f.scroll(f.factRows())
			return f.wait()
		}
		f.answer = word
		return tea.Quit
	default:
		return f.restart()
	}
	return nil
}

func (f *form) scroll(by int) {
	f.top = max(0, min(f.top+by, len(f.rows)-f.factRows()))
	f.sight.See(f.top+f.factRows(), f.need)
}

// factRows is how many rows the facts have.
func (f *form) factRows() int {
	return f.height - len(f.page.choices) - restLines
}

func (f *form) View() tea.View {
	if f.height == 0 || f.err != nil || f.answer != "" {
		return tea.View{AltScreen: true}
	}
	n := f.factRows()
	end := min(f.top+n, len(f.rows))
	rows := make([]string, 0, f.height)
	rows = append(rows, f.rows[f.top:end]...)
	switch {
	case len(f.rows) <= n:
		rows = append(rows, "")
	case f.unread:
		rows = append(rows, view.ReadOn(f.top, end, len(f.rows)))
	default:
		rows = append(rows, clip(f.sight.Rest(f.top, end, len(f.rows)), f.width))
	}
	keys := "One moment…"
	if !f.now().Before(f.settled) {
		keys = "↑ ↓ choose, Return answers. " + f.page.footer
	}
	rows = append(rows, lipgloss.NewStyle().Bold(true).Render(clip(f.page.decision, f.width)))
	for i, c := range f.page.choices {
		cursor := "  "
		if i == f.at {
			cursor = "> "
		}
		rows = append(rows, clip("┃ "+cursor+c.label, f.width))
	}
	rows = append(rows, clip(keys, f.width))
	return tea.View{Content: strings.Join(rows, "\n"), AltScreen: true}
}
