package ask

import (
	"context"
	"fmt"
	"strings"

	"github.com/clawai/clawai/internal/ask/dialog"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/text/term"
)

// wordWrite is the word for writing the rule on the confirmation page.
const wordWrite = "write"

// askAlways asks the person for the scope of the rule, shows the rule, asks for confirmation and
// writes it. If the rule cannot be written, askAlways shows the reason, and the person may still
// answer for this call alone.
func (t *Terminal) askAlways(ctx context.Context, tty *term.Tty, h *openQuestion, reply gate.Reply) (gate.Answer, error) {
	offers := offersWithRule(h.offers, reply)
	offer := offers[0]
	if len(offers) > 1 {
		word, err := t.showPage(ctx, tty, scopePage(offers, reply, h.page.Hints))
		if err != nil || word == dialog.Deny {
			return gate.Answer{}, err
		}
		for _, o := range offers {
			if o.Scope == word {
				offer = o
			}
		}
	}
	word, err := t.showPage(ctx, tty, confirmationPage(t.o.RuleWriter.Policy, offer, reply, h.page.Hints))
	if err == nil && word == wordWrite {
		note, why := t.o.RuleWriter.Write(ctx, h.question, offer.Scope, reply)
		if why == nil {
			return gate.Answer{Reply: reply, Note: note}, nil
		}
		word, err = t.showPage(ctx, tty, refusalPage(why, h.page.Hints))
	}
	if err == nil && word == dialog.Allow {
		return gate.Answer{Reply: gate.AllowOnce}, nil
	}
	return gate.Answer{}, err
}

// offersWithRule returns the offers whose rule can be written for this answer.
func offersWithRule(offers []view.Offer, reply gate.Reply) (some []view.Offer) {
	for _, o := range offers {
		if o.RuleText(reply.Allows()) != "" {
			some = append(some, o)
		}
	}
	return some
}

// reachPage returns the page that asks for the scope of a session answer.
func reachPage(offers []view.Offer, foot []string) dialog.Page {
	all := make([]dialog.Reach, len(offers))
	for i, o := range offers {
		all[i] = dialog.Reach{Word: o.Scope, Label: term.VisibleText(o.Session), Title: term.VisibleText(o.Title)}
	}
	p := dialog.ReachPage(all)
	p.Hints = foot
	return p
}

// scopePage returns the page that asks for the scope of the rule.
func scopePage(offers []view.Offer, reply gate.Reply, foot []string) dialog.Page {
	p := dialog.Page{Decision: "clawai asks: always allow how much?", Choices: []dialog.Choice{denyChoice("Deny, write nothing")}, Hints: foot}
	if !reply.Allows() {
		p.Decision = "clawai asks: always deny how much?"
		p.Choices[0] = denyChoice("Deny once, write nothing")
	}
	var facts []string
	for _, o := range offers {
		facts = append(facts, fmt.Sprintf("%-10s %s", o.Scope, term.VisibleText(o.Title)))
		p.Choices = append(p.Choices, dialog.Choice{Word: o.Scope, Label: view.ScopeLabel(o.Scope), Lets: reply.Allows()})
	}
	p.Facts = dialog.TextFacts(facts...)
	return p
}

// confirmationPage returns the page that shows the rule before it is written.
func confirmationPage(path string, o view.Offer, reply gate.Reply, foot []string) dialog.Page {
	facts := []string{fmt.Sprintf("This rule would be written into %s,", term.VisibleText(path)), "above the rule that asked:", ""}
	p := dialog.Page{
		Decision: "clawai asks: write this rule and allow?",
		Choices: []dialog.Choice{
			denyChoice("Deny, write nothing"), allowChoice(wordWrite, "Write the rule and allow"), allowChoice(dialog.Allow, "Allow once, write nothing"),
		},
		Hints: foot,
	}
	text, lets := o.Allow, "It lets through"
	if !reply.Allows() {
		text, lets = o.Deny, "It denies"
		p.Decision = "clawai asks: write this rule and deny?"
		p.Choices[0] = denyChoice("Deny once, write nothing")
		p.Choices[1].Label, p.Choices[1].Lets = "Write the rule and deny", false
	}
	for line := range strings.Lines(text) {
		facts = append(facts, "  "+term.VisibleText(strings.TrimRight(line, "\n")))
	}
	facts = append(facts, "", lets+" "+term.VisibleText(o.Title)+".")
	if o.Example != "" {
		facts = append(facts, "For example, beside this call: "+term.VisibleText(o.Example))
	}
	p.Facts = dialog.TextFacts(facts...)
	return p
}

// refusalPage returns the page that tells the person that no rule is written, and the reason.
func refusalPage(why error, foot []string) dialog.Page {
	return dialog.Page{
		Facts:    dialog.TextFacts("Nothing is written.", term.VisibleText(why.Error())),
		Decision: "clawai asks: let it through?",
		Choices:  []dialog.Choice{denyChoice("Deny"), allowChoice(dialog.Allow, "Allow once")},
		Hints:    foot,
	}
}
