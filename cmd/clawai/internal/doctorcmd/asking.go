package doctorcmd

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
func checkAsking(p *machine) []finding {
	if p.foldersErr != nil {
		return nil
	}
	ask, err := config.LoadAsk(p.folders.SettingsFile(), os.Getenv)
	if err != nil {
		return []finding{{Health: broken, Text: err.Error() + "; no server is started with it",
			Fix: "correct the setting (docs/approvals.md)"}}
	}
	all := settings(ask)
	if len(ask.Order.Is) == 0 {
		return append(all, finding{Health: doubtful, Text: "nobody is ever asked: a prompt rule denies",
			Fix: "name ways of asking: order in " + p.folders.SettingsFile()})
	}
	form, open := false, false
	for _, name := range ask.Order.Is {
		d := channelDoc{Name: name}
		switch why := p.channel(name); {
		case name == "elicitation":
			form, d.Why = true, "where the client offers a form of its own"
		case why != nil:
			d.Why = why.Error()
		default:
			open, d.Available = true, true
		}
		all = append(all, finding{Health: healthy, Text: d.String(), Channel: &d})
	}
	all = append(all, fine("desktop notification: %s", onOff(ask.Notify.Is, notify.New(notify.Options{}).Available()))...)
	if open {
		return all
	}
	text := "nobody can be asked from here now"
	if form {
		text += ", unless the client has a form"
	}
	text += fmt.Sprintf(": a call that a rule prompts waits %s for an answer", ask.Timeout.Is)
	if ask.Nobody.Is == "deny" {
		text, _, _ = strings.Cut(text, " waits ")
		text += " is denied"
	}
	return append(all, finding{Health: doubtful, Text: text, Fix: "clawai approve, in another window or on a page (--web)"})
}

// settingDoc is one setting and where it comes from.
type settingDoc struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
}

// channelDoc is one channel, as it stands now.
type channelDoc struct {
	Name      string `json:"name"`
	Available bool   `json:"available"`
	Why       string `json:"why,omitempty"` // why not, or that only a session knows
}

func (d channelDoc) String() string {
	switch {
	case d.Available:
		return d.Name + ": could be asked now"
	case d.Name == "elicitation":
		return d.Name + ": " + d.Why
	}
	return d.Name + ": not now: " + d.Why
}

// settings is each setting with where it comes from.
func settings(a config.Ask) (all []finding) {
	order := strings.Join(a.Order.Is, ",")
	if order == "" {
		order = config.Never
	}
	for _, d := range []settingDoc{
		{"order", order, a.Order.From},
		{"timeout", a.Timeout.Is.String(), a.Timeout.From},
		{"nobody", a.Nobody.Is, a.Nobody.From},
		{"per_minute", fmt.Sprint(a.PerMinute.Is), a.PerMinute.From},
		{"at_once", fmt.Sprint(a.AtOnce.Is), a.AtOnce.From},
		{"notify", fmt.Sprint(a.Notify.Is), a.Notify.From},
	} {
		all = append(all, finding{Health: healthy, Text: fmt.Sprintf("%s = %s (%s)", d.Name, d.Value, d.Origin), Setting: &d})
	}
	return all
}

func onOff(on bool, why error) string {
	switch {
	case !on:
		return "off"
	case why != nil:
		return "not possible: " + why.Error()
	}
	return "on"
}

// channel says why a channel is not available here now. It leaves nothing
// behind.
func (p *machine) channel(name string) error {
	switch name {
	case "terminal":
		return p.terminal()
	case "popup":
		return approve.NewPopup(approve.PopupOptions{Getenv: os.Getenv}).Open(p.ctx)
	case "console", "web":
		return approve.NewQueueChannel(name, p.answerers).Open()
	}
	return nil
}

// answerers asks the queue, which a doctor does not make.
func (p *machine) answerers() ([]string, error) {
	dir := filepath.Join(p.folders.State, "queue")
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	q, err := queue.Open(dir, queue.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { _ = q.Close() }()
	return q.Answerers()
}

// terminal tries what a question would need here.
func (p *machine) terminal() error {
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
