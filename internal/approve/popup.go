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
)

// PopupOptions of NewPopup.
type PopupOptions struct {
	Program string   // clawai's own path, for the popup to run
	Environ []string // NAME=value that the popup's clawai needs: the tmux server has another environment
	Getenv  func(string) string
	Tmux    string // default "tmux"
}

// Popup opens the question over whatever tmux shows, by running clawai approve
// there: the answer comes through the queue. It closes with the answer, wherever
// that is given.
type Popup struct{ o PopupOptions }

var _ Rung = (*Popup)(nil)

// NewPopup gives a rung that asks tmux nothing before it is used.
func NewPopup(o PopupOptions) *Popup {
	if o.Tmux == "" {
		o.Tmux = "tmux"
	}
	return &Popup{o: o}
}

// tmuxTime bounds what tmux is asked beside the popup itself.
const tmuxTime = 500 * time.Millisecond

var (
	errNoTmux    = errors.New("not inside tmux")
	errOldTmux   = errors.New("this tmux has no popups; it takes 3.2 or later")
	errNoClient  = errors.New("nobody looks at this tmux session")
	errPopupOver = errors.New("the popup was closed without an answer")
)

// Name is "popup".
func (p *Popup) Name() string { return "popup" }

// Available is nil when somebody is attached to the tmux session that clawai
// runs in.
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

// client is the tmux client that was used last of those that show our session.
func (p *Popup) client(ctx context.Context) (string, error) {
	if p.o.Getenv("TMUX") == "" || p.o.Getenv("TMUX_PANE") == "" {
		return "", errNoTmux
	}
	out, err := p.tmux(ctx, "-V")
	if err != nil {
		return "", fmt.Errorf("tmux does not answer: %w", err)
	}
	if !hasPopups(out) {
		return "", errOldTmux
	}
	pane := p.o.Getenv("TMUX_PANE")
	if strings.Trim(pane, "%0123456789") != "" {
		return "", errNoTmux
	}
	out, err = p.tmux(ctx, "list-clients", "-t", pane, "-F", "#{client_activity} #{client_name}")
	if err != nil {
		return "", fmt.Errorf("tmux does not answer: %w", err)
	}
	best, name := -1, ""
	for line := range strings.Lines(out) {
		activity, client, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if at, err := strconv.Atoi(activity); err == nil && at > best && client != "" {
			best, name = at, client
		}
	}
	if name == "" {
		return "", errNoClient
	}
	return name, nil
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
	client, err := p.client(ctx)
	if err == nil && q.Ticket == "" {
		err = errNotQueued
	}
	if err != nil {
		return none, err
	}
	// Several words are a command and its arguments: no shell reads them. Of all
	// of it only the ticket changes, and that is ours.
	args := []string{"display-popup", "-c", client, "-E", "-w", "90%", "-h", "90%", "--", "env"}
	args = append(append(args, p.o.Environ...), p.o.Program, "approve", q.Ticket)
	cmd := exec.Command(p.o.Tmux, args...) // outlives ctx until the popup is closed
	if err := cmd.Start(); err != nil {
		return none, err
	}
	var failed error // of the command, once closed
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		failed = cmd.Wait()
	}()
	select {
	case <-closed:
		if failed != nil {
			return none, fmt.Errorf("the popup could not be shown: %w", failed)
		}
		return none, p.settling(ctx)
	case <-ctx.Done():
	}
	// clawai approve sees that the question is over and ends; should it hang, the
	// popup is closed over it.
	t := time.NewTimer(2 * time.Second)
	defer t.Stop()
	select {
	case <-closed:
	case <-t.C:
		_, _ = p.tmux(context.WithoutCancel(ctx), "display-popup", "-c", client, "-C")
		_ = cmd.Process.Kill()
		<-closed
	}
	return none, context.Cause(ctx)
}

// settling waits a moment for an answer that was given in the popup to end ctx:
// the popup closes when it is in the queue, and the queue tells us a little later.
func (p *Popup) settling(ctx context.Context) error {
	t := time.NewTimer(settling)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return errPopupOver
	}
}
