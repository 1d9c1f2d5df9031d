package approve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/term"
)

// PopupOptions of NewPopup.
type PopupOptions struct {
	Program string   // clawai's own path, for the popup to run
	Environ []string // NAME=value: all that the popup's clawai gets beside TERM
	Getenv  func(string) string
	Tmux    string // default "tmux"
}

// Popup opens the question over whatever tmux shows, by running clawai approve
// there: the answer comes through the queue. It closes with the answer, wherever
// that is given.
type Popup struct{ o PopupOptions }

var _ Channel = (*Popup)(nil)

// NewPopup gives a channel that asks tmux nothing before it is used.
func NewPopup(o PopupOptions) *Popup {
	if o.Tmux == "" {
		o.Tmux = "tmux"
	}
	return &Popup{o: o}
}

const (
	// tmuxTime bounds what tmux is asked beside the popup itself.
	tmuxTime = 500 * time.Millisecond
	// arriving is how long an answer that was given in the popup may take from
	// the queue to us.
	arriving = 5 * time.Second
	// A popup that is gone sooner than a person reads was never shown: a client
	// shows one at a time, and says nothing of the second. It is tried again for
	// a while.
	unread   = 400 * time.Millisecond
	occupied = 5 * time.Second
)

var (
	errNoTmux    = errors.New("not inside tmux")
	errOldTmux   = errors.New("this tmux has no popups; it takes 3.2 or later")
	errNoClient  = errors.New("nobody looks at the tmux window that clawai runs in")
	errPopupBusy = errors.New("another popup is in the way")
	errPopupOver = errors.New("the popup was closed without an answer")
)

// Name is "popup".
func (p *Popup) Name() string { return "popup" }

// Available is nil when a tmux client shows the window that clawai runs in.
func (p *Popup) Available(ctx context.Context, q gate.Question) error {
	if q.Ticket == "" {
		return errNotQueued
	}
	return p.Open(ctx)
}

// Open is Available whatever is asked.
func (p *Popup) Open(ctx context.Context) error {
	_, err := p.client(ctx)
	return err
}

// window is where a popup goes.
type window struct {
	client string // its name to tmux
	term   string // what programs in it find as TERM
}

// client is the tmux client that was used last of those that show our window
// and take keys.
func (p *Popup) client(ctx context.Context) (w window, err error) {
	pane := p.o.Getenv("TMUX_PANE")
	if p.o.Getenv("TMUX") == "" || pane == "" || strings.Trim(pane, "%0123456789") != "" {
		return w, errNoTmux
	}
	out, err := p.tmux(ctx, "-V")
	if err == nil && !hasPopups(out) {
		return w, errOldTmux
	}
	if err == nil {
		out, err = p.tmux(ctx, "display-message", "-p", "-t", pane, "#{window_id}", ";", "show-options", "-gv", "default-terminal", ";",
			"list-clients", "-t", pane, "-F", "#{client_activity} #{window_id} #{client_control_mode}#{client_readonly} #{client_name}")
	}
	if err != nil {
		return w, fmt.Errorf("tmux does not answer: %w", err)
	}
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) < 2 {
		return w, errNoClient
	}
	best := -1
	w.term = lines[1]
	for _, line := range lines[2:] {
		f := strings.SplitN(line, " ", 4)
		if len(f) < 4 || f[1] != lines[0] || f[2] != "00" {
			continue
		}
		if at, err := strconv.Atoi(f[0]); err == nil && at > best && f[3] != "" {
			best, w.client = at, f[3]
		}
	}
	if w.client == "" {
		return w, errNoClient
	}
	return w, nil
}

// hasPopups reads "tmux 3.3a" and "tmux next-3.5".
func hasPopups(version string) bool {
	fields := strings.Fields(version)
	if len(fields) < 2 {
		return false
	}
	number := strings.TrimPrefix(fields[1], "next-")
	major, rest, _ := strings.Cut(number, ".")
	m, err := strconv.Atoi(major)
	minor, errMinor := strconv.Atoi(strings.TrimRight(rest, "abcdefghijklmnopqrstuvwxyz-"))
	return err == nil && errMinor == nil && (m > 3 || m == 3 && minor >= 2)
}

func (p *Popup) tmux(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, tmuxTime)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, p.o.Tmux, args...)
	cmd.Stdout, cmd.WaitDelay = &out, tmuxTime
	err := cmd.Run()
	return out.String(), err
}

// Ask shows the popup until it closes. An answer given there is the queue's, and
// ends ctx: so Ask itself never has one.
func (p *Popup) Ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
	none := gate.Answer{Digest: q.Digest}
	if q.Ticket == "" {
		return none, errNotQueued
	}
	for began := time.Now(); ; {
		w, err := p.client(ctx)
		if err != nil {
			return none, err
		}
		opened := time.Now()
		if err := p.show(ctx, w, q.Ticket); err != nil {
			return none, err
		}
		patience := arriving
		brief := time.Since(opened) < unread
		if brief {
			patience = time.Second
		}
		select {
		case <-ctx.Done():
			return none, context.Cause(ctx)
		case <-time.After(patience):
		}
		switch {
		case !brief:
			return none, errPopupOver
		case time.Since(began) > occupied:
			return none, errPopupBusy
		}
	}
}

// show runs clawai approve in a popup. Nil means that it ended with an answer,
// or was not shown.
func (p *Popup) show(ctx context.Context, w window, ticket string) error {
	// Several words are a command and its arguments: no shell reads them. Of all
	// of it only the ticket changes, and that is ours.
	args := []string{"display-popup", "-c", w.client, "-E", "-w", "90%", "-h", "90%", "--", "env", "-i", "TERM=" + w.term}
	args = append(append(args, p.o.Environ...), p.o.Program, "approve", ticket)
	cmd := exec.Command(p.o.Tmux, args...) // outlives ctx until the popup is closed
	var said bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &said, tmuxTime
	if err := cmd.Start(); err != nil {
		return err
	}
	var failed error // of the command, once closed
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		failed = cmd.Wait()
	}()
	select {
	case <-closed:
		switch {
		case failed != nil && said.Len() > 0:
			return fmt.Errorf("the popup could not be shown: %s", term.Text(strings.TrimSpace(said.String())))
		case failed != nil:
			return errPopupOver
		}
		return nil
	case <-ctx.Done():
	}
	// clawai approve sees that the question is over and ends; should it hang, the
	// popup is closed over it.
	t := time.NewTimer(2 * time.Second)
	defer t.Stop()
	select {
	case <-closed:
	case <-t.C:
		_, _ = p.tmux(context.WithoutCancel(ctx), "display-popup", "-c", w.client, "-C")
		_ = cmd.Process.Kill()
		<-closed
	}
	return context.Cause(ctx)
}
