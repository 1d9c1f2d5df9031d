package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/clawai/clawai/internal/approve/canvas"
	"github.com/clawai/clawai/internal/approve/queue"
	"github.com/clawai/clawai/internal/approve/view"
)

// Queue is what the console needs of *queue.Queue.
type Queue interface {
	Watch(ctx context.Context) <-chan struct{}
	Pending(ctx context.Context) ([]queue.Request, error)
	History(ctx context.Context, n int) ([]queue.Request, error)
	Get(ctx context.Context, prefix string) (queue.Request, error)
	Decide(ctx context.Context, id string, a queue.Answer) (queue.Request, error)
	Await(ctx context.Context, id string) (queue.Request, error)
	Grants(ctx context.Context) ([]queue.Grant, error)
	Revoke(ctx context.Context, grantID string) error
}

// Terminal is what the console needs of *term.Tty.
type Terminal interface {
	io.Writer
	Recheck() error // it may be painted on
	Keys() error    // gives every key as it is pressed
	Lines() error   // undoes Keys
	Size() (width, height int, err error)
	Resized(ctx context.Context, changed func(width, height int))
	ReadContext(ctx context.Context, p []byte) (int, error)
}

// Options say what a console shows and how.
type Options struct {
	Queue Queue
	By    string       // the account answers are recorded under
	Only  string       // the id of the one request to show; "" shows all
	Once  bool         // leave after the first answer
	View  view.Options // its Home, Own and ReadFile
	Color bool
	Every time.Duration    // look at the queue again even when it did not change; default 5 s
	Grace time.Duration    // how long a request is in sight before a key answers it; default 300 ms
	Now   func() time.Time // default time.Now
}

// Result is how a console that shows one request, or leaves after one answer,
// ended. The zero value means that the person left.
type Result struct {
	Request  queue.Request
	Answered bool // here; otherwise the request was settled elsewhere
}

// ErrInterrupted says that the person pressed Ctrl-C.
var ErrInterrupted = errors.New("interrupted")

// brief is what a line needs: it shows no changes.
func (o *Options) brief() view.Options {
	short := o.View
	short.ReadFile = nil
	return short
}

func (o *Options) defaults() {
	if o.Every <= 0 {
		o.Every = 5 * time.Second
	}
	if o.Grace <= 0 {
		o.Grace = 300 * time.Millisecond
	}
	if o.Now == nil {
		o.Now = time.Now
	}
}

// Run is the console on the whole screen of tty, until the person leaves, ctx
// ends (its cause is returned) or, with Only or Once, there is a result.
func Run(ctx context.Context, tty Terminal, o Options) (Result, error) {
	o.defaults()
	if err := tty.Recheck(); err != nil {
		return Result{}, err
	}
	width, height, err := tty.Size()
	if err != nil {
		return Result{}, err
	}
	if err := tty.Keys(); err != nil {
		return Result{}, err
	}
	ctx, end := context.WithCancelCause(ctx)
	var work sync.WaitGroup
	var program *tea.Program
	m := newModel(o, func(f job) { work.Go(func() { program.Send(careful(ctx, f)) }) })
	keyboard := &canvas.Keyboard{From: func(p []byte) (int, error) { return tty.ReadContext(ctx, p) }, End: end}
	program = tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(keyboard), tea.WithOutput(canvas.Screen{W: tty}),
		tea.WithWindowSize(width, height), tea.WithEnvironment([]string{"TERM=vt100"}),
		tea.WithColorProfile(profile(o.Color)), tea.WithoutSignalHandler())
	work.Go(func() {
		tty.Resized(ctx, func(w, h int) { program.Send(tea.WindowSizeMsg{Width: w, Height: h}) })
	})
	work.Go(func() { watch(ctx, o, program.Send) })
	_, failed := program.Run()
	cause := context.Cause(ctx)
	keyboard.Stop()
	work.Wait()
	if cause != nil {
		failed = nil // that is how it was ended
	}
	if err = errors.Join(m.err, failed, tty.Lines()); err != nil {
		return m.result, err
	}
	return m.result, cause
}

func profile(color bool) colorprofile.Profile {
	if color {
		return colorprofile.ANSI
	}
	return colorprofile.Ascii
}

// careful is f, and its panic as a message, so that the terminal is given back.
func careful(ctx context.Context, f job) (msg tea.Msg) {
	defer func() {
		if r := recover(); r != nil {
			msg = failedMsg{fmt.Errorf("the console failed: %q", fmt.Sprint(r))}
		}
	}()
	return f(ctx)
}

// watch tells of every change of the queue, and now and then of none.
func watch(ctx context.Context, o Options, send func(tea.Msg)) {
	changes := o.Queue.Watch(ctx)
	again := time.NewTicker(o.Every)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case _, open := <-changes:
			if !open {
				changes = nil
				continue
			}
		case <-again.C:
		}
		send(changedMsg{})
	}
}
