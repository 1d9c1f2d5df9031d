package console

import (
	"fmt"

	"github.com/clawai/clawai/internal/ask/dialog"
	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/text/term"
)

// allowSession allows a call for the rest of its session. If several scopes are possible, it asks
// the person for one.
func (m *model) allowSession(r *queue.Request) {
	offers, f := view.ForSession(r.Offers), m.facts
	if len(offers) == 1 {
		m.allowRequest(r, gate.AllowSession, dialog.SureSession)
		return
	}
	title := "clawai asks: allow this until the session ends?"
	if f.NeedsCare() {
		title = "DANGEROUS. " + title
	}
	m.openChoice(r.ID, len(offers), func(at int) dialog.Page {
		facts := append(dangerLines(f, gate.AllowSession), reachLines(offers, at)...)
		page := dialog.ConfirmPage(title, "allow it", true, facts...)
		page.Alarm = f.NeedsCare()
		return page
	}, func(at int) queue.Answer { return queue.Answer{Reply: gate.AllowSession, Scope: offers[at].Scope} })
}

// reachLines returns a line for each possible scope of a session answer. The parameter at is the
// index of the chosen scope.
func reachLines(offers []view.Offer, at int) []string {
	lines := []string{"How far should the answer reach?", ""}
	for i, o := range offers {
		cursor := "  "
		if i == at {
			cursor = "> "
		}
		lines = append(lines, fmt.Sprintf("%s%d  %s", cursor, i+1, term.VisibleText(o.Session)))
	}
	return append(lines, "", "That is "+term.VisibleText(offers[at].Title)+".", "",
		"It ends with the session, and no rule is written. What a rule denies stays denied, and what needs more care than this call is asked about all the same.")
}
