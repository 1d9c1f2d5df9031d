package doctorcmd

import (
	"fmt"
	"strings"

	"github.com/clawai/clawai/internal/ask/notify"
	"github.com/clawai/clawai/internal/session"
	"github.com/clawai/clawai/internal/state/config"
)

// checkAsking shows the ways to ask a person from here, and where each setting comes from. A
// channel that does not work here is no fault, because a client may start the proxy in another
// place.
func checkAsking(p *machine) []finding {
	if p.foldersErr != nil {
		return nil
	}
	ask, err := session.LoadAsk(p.folders)
	if err != nil {
		return []finding{{Health: broken, Text: err.Error() + "; no server is started with it",
			Fix: "correct the setting (docs/approvals.md)"}}
	}
	all := listSettings(ask)
	if len(ask.Order.Is) == 0 {
		return append(all, finding{Health: doubtful, Text: "nobody is ever asked: a prompt rule denies",
			Fix: "name ways of asking: order in " + p.folders.SettingsFile()})
	}
	form, open := false, false
	for _, name := range ask.Order.Is {
		d := channelDoc{Name: name}
		switch why, known := session.TryChannel(p.ctx, p.folders, name); {
		case !known:
			form, d.depends, d.Why = true, true, why.Error()
		case why != nil:
			d.Why = why.Error()
		default:
			open, d.Available = true, true
		}
		all = append(all, finding{Health: healthy, Text: d.String(), Channel: &d})
	}
	all = append(all, healthyFinding("desktop notification: %s", onOff(ask.Notify.Is, notify.New(notify.Options{}).Available()))...)
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

// settingDoc is one setting, its value, and the place where the value is set.
type settingDoc struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
}

// channelDoc is one channel in the JSON report: its name, and whether the channel works now.
type channelDoc struct {
	Name      string `json:"name"`
	Available bool   `json:"available"`
	Why       string `json:"why,omitempty"` // why the channel does not work here, or where it may work
	depends   bool   // true if only a session can know whether the channel works
}

func (d channelDoc) String() string {
	switch {
	case d.Available:
		return d.Name + ": could be asked now"
	case d.depends:
		return d.Name + ": " + d.Why
	}
	return d.Name + ": not now: " + d.Why
}

// listSettings returns a finding for each setting of the questions, with the source of its value.
func listSettings(a config.Ask) (all []finding) {
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
