package ask

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/ask/dialog"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
)

// wordEach asks about several questions one by one.
const wordEach = "each"

// errTooMany says that questions do not fit on one page together.
var errTooMany = errors.New("together the calls are too many to show")

// questionPage gives the page of a question. Without offers "always" is no answer, and
// whyNot, when not empty, says why.
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

// batchPage gives the page of several questions.
func batchPage(qs []gate.Question, vs []view.Question) (dialog.Page, error) {
	head := fmt.Sprintf("%s wants %d things at once", vs[0].HeadlineServer(), len(qs))
	first := qs[0].Deadline
	for i, q := range qs {
		if q.Deadline.Before(first) {
			first = q.Deadline
		}
		if vs[i].Server != vs[0].Server {
			head = fmt.Sprintf("%d calls from several servers", len(qs))
		}
	}
	all := func(width int) ([]string, int) {
		rows := append(view.Wrap([]string{head, ""}, width), view.RenderSeveral(vs, width)...)
		return rows, len(rows)
	}
	if _, n := all(0); n > dialog.MaxRows {
		return dialog.Page{}, errTooMany
	}
	return dialog.Page{
		Facts:    all,
		Decision: fmt.Sprintf("clawai asks: let all %d calls through?", len(qs)),
		Choices: []dialog.Choice{
			denyChoice("Deny all"), allowChoice(dialog.Allow, "Allow all, each once"), {Word: wordEach, Label: "Ask one by one"},
		},
		Hints:  deadlineFooter(first),
		Headed: true,
	}, nil
}

func deadlineFooter(deadline time.Time) []string {
	if deadline.IsZero() {
		return nil
	}
	return []string{"no answer by " + deadline.Local().Format(time.TimeOnly) + " denies"}
}
