package ask

import (
	"strings"
	"time"

	"github.com/clawai/clawai/internal/ask/dialog"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
)

// questionPage returns the page of a question. If there are no offers, the page has no "always";
// whyNot is then the reason, or "".
func questionPage(q gate.Question, v view.Question, offers []view.Offer, whyNot string) dialog.Page {
	var more []string
	if len(offersWithRule(offers, gate.AllowAlways)) == 0 && whyNot != "" {
		more = []string{"always     not offered: " + whyNot}
	}
	p := dialog.Asked{
		Calls: len(q.Calls), Reply: q.Reply, Dangerous: len(v.Dangers) > 0,
		Session: q.Session, Further: len(view.ForSession(offers)) > 1,
		Always: len(offersWithRule(offers, gate.AllowAlways)) > 0, Never: len(offersWithRule(offers, gate.DenyAlways)) > 0,
	}.CallPage(func(width int) ([]string, int) {
		rows, need := v.Rows(width)
		return append(rows, view.Wrap(more, width)...), need
	})
	p.Hints = deadlineFooter(q.Deadline)
	return p
}

func denyChoice(label string) dialog.Choice {
	return dialog.Choice{Word: dialog.Deny, Label: label, Brief: strings.ToLower(label)}
}

func allowChoice(word, label string) dialog.Choice {
	return dialog.Choice{Word: word, Label: label, Lets: true}
}

func deadlineFooter(deadline time.Time) []string {
	if deadline.IsZero() {
		return nil
	}
	return []string{"no answer by " + deadline.Local().Format(time.TimeOnly) + " denies"}
}
