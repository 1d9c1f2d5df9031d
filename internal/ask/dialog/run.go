package dialog

import (
	"context"
	"errors"
	"io"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/clawai/clawai/internal/text/term"
)

// Terminal lists the methods of *term.Tty that a full screen needs.
type Terminal interface {
	io.Writer
	Recheck() error // checks that we may draw
	Keys() error    // starts the mode in which each key is read at once
	Lines() error   // ends the mode of Keys
	Size() (width, height int, err error)
	Resized(ctx context.Context, changed func(width, height int))
	ReadContext(ctx context.Context, p []byte) (int, error)
}

// Task is work in the background of a screen. It must return when ctx ends.
type Task func(ctx context.Context, send func(tea.Msg))

// Loop runs one full screen. The zero value can be used for one Run.
type Loop struct {
	ctx     context.Context
	program *tea.Program
	work    sync.WaitGroup
}

// Go runs f in the background while the screen is open.
func (l *Loop) Go(f Task) { l.work.Go(func() { f(l.ctx, l.program.Send) }) }

// Run shows m on tty until m quits or ctx ends. If ctx ends, Run returns its cause. When Run
// returns, the terminal is restored and no task runs any more.
func (l *Loop) Run(ctx context.Context, tty Terminal, m tea.Model, color bool) error {
	if err := tty.Recheck(); err != nil {
		return err
	}
	width, height, err := tty.Size()
	if err != nil {
		return err
	}
	if err := tty.Keys(); err != nil {
		return err
	}
	profile := colorprofile.Ascii
	if color {
		profile = colorprofile.ANSI
	}
	ctx, end := context.WithCancelCause(ctx)
	in := &keyboard{from: func(p []byte) (int, error) { return tty.ReadContext(ctx, p) }, end: end}
	l.ctx, l.program = ctx, tea.NewProgram(m,
		tea.WithContext(ctx),
		tea.WithInput(in),
		tea.WithOutput(output{tty}),
		tea.WithWindowSize(width, height),
		// TERM=vt100 makes bubbletea use only what all terminals can do. The number of colours is
		// not looked up, because bubbletea would run "tmux info" for this.
		tea.WithEnvironment([]string{"TERM=vt100"}),
		tea.WithColorProfile(profile),
		tea.WithoutSignalHandler(), // the caller has its own signal handler, which ends ctx
	)
	l.Go(func(ctx context.Context, send func(tea.Msg)) {
		tty.Resized(ctx, func(w, h int) { send(tea.WindowSizeMsg{Width: w, Height: h}) })
	})
	_, err = l.program.Run()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	in.stop()
	l.work.Wait()
	return errors.Join(err, tty.Lines())
}

// output is the terminal as bubbletea's output. It is not a file: for a file, bubbletea would query
// the size in a goroutine that no code waits for.
type output struct{ w io.Writer }

func (o output) Write(p []byte) (int, error) {
	if _, err := o.w.Write(term.RemoveQueries(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// keyboard is the terminal as bubbletea's input. It is not a file: bubbletea cannot cancel a read
// from a file without a goroutine that stays behind. If the terminal hangs up, keyboard calls the
// function end, because bubbletea would go on waiting.
type keyboard struct {
	from func(p []byte) (int, error) // reads keys; it returns an error when the screen closes
	end  context.CancelCauseFunc

	reading sync.Mutex
}

func (k *keyboard) Read(p []byte) (int, error) {
	k.reading.Lock()
	defer k.reading.Unlock()
	n, err := k.from(p)
	if err == nil {
		return n, nil
	}
	k.end(err)
	return 0, io.EOF
}

// stop waits until no goroutine reads the terminal any more.
func (k *keyboard) stop() {
	k.end(nil)
	k.reading.Lock()
	defer k.reading.Unlock()
}
