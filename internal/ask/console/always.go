package console

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/ask/dialog"
	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/text/term"
)

// chooseRule asks the person to choose one of the offered rules and to confirm it. The proxy writes
// the rule when it receives the answer.
func (m *model) chooseRule(r *queue.Request, reply gate.Reply) {
	offers, f := OffersFor(r, reply), m.facts
	m.openChoice(r.ID, len(offers), func(at int) dialog.Page {
		facts := append(dangerLines(f, reply), offerLines(offers, at, reply)...)
		page := dialog.ConfirmPage(alwaysTitle(f, reply), "write it and "+allowVerb(reply), reply.Allows(), facts...)
		page.Alarm = f.NeedsCare() && reply.Allows()
		return page
	}, func(at int) queue.Answer { return queue.Answer{Reply: reply, Scope: offers[at].Scope} })
}

// openChoice asks about the request with this id. The question has one page for each of n choices.
// The parameter answer is a function that returns the answer for the chosen page.
func (m *model) openChoice(id string, n int, page func(at int) dialog.Page, answer func(at int) queue.Answer) {
	m.chooseOffer(id, n, page, func(at int) {
		if r := m.pending.findRequest(id); r != nil {
			m.sendAnswer(r, answer(at))
		}
	})
}

// chooseOffer asks a question with one page for each of n choices. id is the request of the
// question; "" for none. When the person has confirmed a page, chooseOffer passes its index to the
// function yes.
func (m *model) chooseOffer(id string, n int, page func(at int) dialog.Page, yes func(at int)) {
	at, q := 0, &question{id: id}
	draw := func() {
		p := page(at)
		p.Hints = []string{fmt.Sprintf("1-%d reach", n), "Esc go back"}
		q.Question = dialog.Question{Page: p, Letters: true, Menu: true, Grace: &m.grace}
	}
	q.choose = func(key string) bool {
		next := slices.Index([]string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}, key)
		if next < 0 || next >= n {
			return false
		}
		at = next
		draw()
		return true
	}
	q.yes = func() { yes(at) }
	draw()
	m.openQuestion(q)
}

// OffersFor returns the offers whose rule can be written for this answer.
func OffersFor(r *queue.Request, reply gate.Reply) []view.Offer {
	return slices.DeleteFunc(slices.Clone(r.Offers), func(o view.Offer) bool { return o.RuleText(reply.Allows()) == "" })
}

func allowVerb(reply gate.Reply) string {
	if reply.Allows() {
		return "allow"
	}
	return "deny"
}

func alwaysTitle(f *Facts, reply gate.Reply) string {
	title := "clawai asks: write this rule, and " + allowVerb(reply) + " what it matches from now on?"
	if reply.Allows() && f.NeedsCare() {
		return "DANGEROUS. " + title
	}
	return title
}

// dangerLines returns why a call needs care. The lines stand at the top of the page that allows the
// call permanently.
func dangerLines(f *Facts, reply gate.Reply) (lines []string) {
	if !reply.Allows() || len(f.Dangers) == 0 {
		return nil
	}
	for _, d := range f.Dangers {
		lines = append(lines, view.Careful+d)
	}
	return append(lines, "")
}

// offerLines returns all scopes. For the chosen scope it adds the rule and another call that the
// rule would match.
func offerLines(offers []view.Offer, at int, reply gate.Reply) []string {
	lines := append(scopeLines(offers, at), "", "The rule, written above the one that asked:", "")
	for line := range strings.Lines(offers[at].RuleText(reply.Allows())) {
		lines = append(lines, "  "+term.VisibleText(strings.TrimRight(line, "\n")))
	}
	verb := "let through"
	if !reply.Allows() {
		verb = "deny"
	}
	if e := offers[at].Example; e != "" {
		return append(lines, "", "Besides this call it would "+verb+", for example:", "  "+term.VisibleText(e))
	}
	return append(lines, "", "No other call is known that it would "+verb+".")
}
