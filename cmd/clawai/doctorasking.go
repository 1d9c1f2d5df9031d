package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/approve"
	"github.com/clawai/clawai/internal/approve/notify"
	"github.com/clawai/clawai/internal/approve/queue"
	"github.com/clawai/clawai/internal/config"
	"github.com/clawai/clawai/internal/term"
)

// checkAsking shows how a person would be asked from here, each setting with
// where it comes from. A client may start the proxy elsewhere, so that a way that
// is not there is no defect.
func checkAsking(p *patient) []finding {
	if p.foldersErr != nil {
		return nil
	}
	ask, err := config.LoadAsk(p.folders.SettingsFile(), os.Getenv)
	if err != nil {
		return []finding{{Health: broken, Text: err.Error() + "; no server is started with it",
			Fix: "correct the setting (docs/asking.md)"}}
	}
	all := fine("%s", settingsLine(ask))
	if len(ask.Order.Is) == 0 {
		return append(all, finding{Health: doubtful, Text: "nobody is ever asked: a prompt rule denies",
			Fix: "name ways of asking: order in " + p.folders.SettingsFile()})
	}
	open := false
	for _, name := range ask.Order.Is {
		why := p.rung(name)
		text := name + ": could be asked now"
		switch {
		case name == "elicitation":
			text = "elicitation: where the client offers a form of its own"
		case why != nil:
			text = name + ": not now: " + why.Error()
		default:
			open = true
		}
		all = append(all, fine("%s", text)...)
	}
	text := "desktop notification: " + switched(ask.Notify.Is, notify.New(notify.Options{}).Available())
	all = append(all, fine("%s", text)...)
	if !open {
		what := fmt.Sprintf("waits %s for an answer", ask.Timeout.Is)
		if ask.Nobody.Is == "deny" {
			what = "is denied"
		}
		all = append(all, finding{Health: doubtful, Text: "nobody can be asked from here now, unless the client has a form: a call that a rule prompts " + what,
			Fix: "clawai approve, in another window or on a page (--web)"})
	}
	return all
}

func switched(on bool, why error) string {
	switch {
	case !on:
		return "off"
	case why != nil:
		return "not possible: " + why.Error()
	}
	return "on"
}

func settingsLine(a config.Ask) string {
	order := strings.Join(a.Order.Is, ",")
	if order == "" {
		order = config.Never
	}
	return fmt.Sprintf("order %s (%s); timeout %s (%s); nobody %s (%s); per_minute %d (%s); notify %t (%s)",
		order, a.Order.From, a.Timeout.Is, a.Timeout.From, a.Nobody.Is, a.Nobody.From, a.PerMinute.Is, a.PerMinute.From, a.Notify.Is, a.Notify.From)
}

// rung says why a way of asking is not available here now. It leaves nothing
// behind.
func (p *patient) rung(name string) error {
	switch name {
	case "terminal":
		return p.terminal()
	case "popup":
		return approve.NewPopup(approve.PopupOptions{Getenv: os.Getenv}).Open(p.ctx)
	case "console", "web":
		return approve.NewAttended(name, p.attended).Open()
	}
	return nil
}

// attended asks the queue, which a doctor does not make.
func (p *patient) attended() ([]string, error) {
	dir := filepath.Join(p.folders.State, "queue")
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	q, err := queue.Open(dir, queue.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { _ = q.Close() }()
	return q.Attended()
}

// terminal tries what a question would need here.
func (p *patient) terminal() error {
	dir := p.folders.State
	if _, err := os.Stat(dir); err != nil {
		if dir, err = os.MkdirTemp("", "clawai-doctor-"); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
	}
	ctx, cancel := context.WithTimeout(p.ctx, 200*time.Millisecond)
	defer cancel()
	tty, err := term.Own(ctx, "/dev/tty", filepath.Join(dir, "terminal.lock"))
	if err != nil {
		return err
	}
	return tty.Close()
}
