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

// wordWrite writes the rule on the page that confirms it.
const wordWrite = "write"

// always lets the person pick how far the rule goes, shows it, has it confirmed
// and writes it. When it must not or cannot be written, the person is told and
// may still answer this once.
func (t *Terminal) always(ctx context.Context, tty *term.Tty, h *asked, reply gate.Reply) (gate.Answer, error) {
	offers := writing(h.offers, reply)
	offer := offers[0]
	if len(offers) > 1 {
		word, err := t.show(ctx, tty, scopes(offers, reply, h.page.Hints))
		if err != nil || word == dialog.Deny {
			return gate.Answer{}, err
		}
		for _, o := range offers {
			if o.Scope == word {
				offer = o
			}
		}
	}
	word, err := t.show(ctx, tty, confirmation(t.o.RuleWriter.Policy, offer, reply, h.page.Hints))
	if err == nil && word == wordWrite {
		note, why := t.o.RuleWriter.Write(ctx, h.question, offer.Scope, reply)
		if why == nil {
			return gate.Answer{Reply: reply, Note: note}, nil
		}
		word, err = t.show(ctx, tty, refused(why, h.page.Hints))
	}
	if err == nil && word == dialog.Allow {
		return gate.Answer{Reply: gate.AllowOnce}, nil
	}
	return gate.Answer{}, err
}

// writing are the offers that have a rule for an answer.
func writing(offers []view.Offer, reply gate.Reply) (some []view.Offer) {
	for _, o := range offers {
		if o.Rule(reply.Allows()) != "" {
			some = append(some, o)
		}
	}
	return some
}

// scopeLabels are the words for the scopes where there is one line for each.
var scopeLabels = map[string]string{
	"exact":  "This exact call",
	"file":   "This file, whatever else",
	"folder": "Its folder",
	"tool":   "All of it",
}

// reaches is the page on which the person picks how far an answer for the session goes.
func reaches(offers []view.Offer, foot []string) dialog.Page {
	all := make([]dialog.Reach, len(offers))
	for i, o := range offers {
		all[i] = dialog.Reach{Word: o.Scope, Label: term.Text(o.Session), Title: term.Text(o.Title)}
	}
	p := dialog.Reaches(all)
	p.Hints = foot
	return p
}

// scopes is the page on which the person picks how far the rule goes.
func scopes(offers []view.Offer, reply gate.Reply, foot []string) dialog.Page {
	p := dialog.Page{Decision: "clawai asks: always allow how much?", Choices: []dialog.Choice{deny("Deny, write nothing")}, Hints: foot}
	if !reply.Allows() {
		p.Decision = "clawai asks: always deny how much?"
		p.Choices[0] = deny("Deny once, write nothing")
	}
	var facts []string
	for _, o := range offers {
		facts = append(facts, fmt.Sprintf("%-10s %s", o.Scope, term.Text(o.Title)))
		p.Choices = append(p.Choices, dialog.Choice{Word: o.Scope, Label: scopeLabels[o.Scope], Lets: reply.Allows()})
	}
	p.Facts = dialog.Text(facts...)
	return p
}

// confirmation shows the rule before it is written.
func confirmation(path string, o view.Offer, reply gate.Reply, foot []string) dialog.Page {
	facts := []string{fmt.Sprintf("This rule would be written into %s,", term.Text(path)), "above the rule that asked:", ""}
	p := dialog.Page{
		Decision: "clawai asks: write this rule and allow?",
		Choices: []dialog.Choice{
			deny("Deny, write nothing"), allow(wordWrite, "Write the rule and allow"), allow(dialog.Allow, "Allow once, write nothing"),
		},
		Hints: foot,
	}
	text, lets := o.Allow, "It lets through"
	if !reply.Allows() {
		text, lets = o.Deny, "It denies"
		p.Decision = "clawai asks: write this rule and deny?"
		p.Choices[0] = deny("Deny once, write nothing")
		p.Choices[1].Label, p.Choices[1].Lets = "Write the rule and deny", false
	}
	for line := range strings.Lines(text) {
		facts = append(facts, "  "+term.Text(strings.TrimRight(line, "\n")))
	}
	facts = append(facts, "", lets+" "+term.Text(o.Title)+".")
	if o.Example != "" {
		facts = append(facts, "For example, beside this call: "+term.Text(o.Example))
	}
	p.Facts = dialog.Text(facts...)
	return p
}

// refused tells the person that nothing is written, and why.
func refused(why error, foot []string) dialog.Page {
	return dialog.Page{
		Facts:    dialog.Text("Nothing is written.", term.Text(why.Error())),
		Decision: "clawai asks: let it through?",
		Choices:  []dialog.Choice{deny("Deny"), allow(dialog.Allow, "Allow once")},
		Hints:    foot,
	}
}
