package approve

import (
	"context"
	"fmt"
	"strings"

	"github.com/clawai/clawai/internal/approve/queue"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/term"
)

// wordWrite writes the rule on the page that confirms it.
const wordWrite = "write"

// always lets the person pick how far the rule goes, shows it, has it confirmed
// and writes it. When it must not or cannot be written, the person is told and
// may still answer this once.
func (t *Terminal) always(ctx context.Context, tty *term.Tty, h *asked, reply gate.Reply) (gate.Answer, error) {
	offers := h.offers
	if reply == gate.DenyAlways {
		offers = denying(offers)
	}
	offer := offers[0]
	if len(offers) > 1 {
		word, err := t.show(ctx, tty, scopes(offers, reply, h.page.footer))
		if err != nil || word == wordDeny {
			return gate.Answer{}, err
		}
		for _, o := range offers {
			if o.Scope == word {
				offer = o
			}
		}
	}
	word, err := t.show(ctx, tty, confirmation(t.o.Always.Policy, offer, reply, h.page.footer))
	if err == nil && word == wordWrite {
		note, why := t.o.Always.Write(ctx, h.question, offer.Scope, reply)
		if why == nil {
			return gate.Answer{Reply: reply, Note: note}, nil
		}
		word, err = t.show(ctx, tty, refused(why, h.page.footer))
	}
	if err == nil && word == wordAllow {
		return gate.Answer{Reply: gate.AllowOnce}, nil
	}
	return gate.Answer{}, err
}

// denying are the offers that have a rule that denies.
func denying(offers []queue.Offer) (some []queue.Offer) {
	for _, o := range offers {
		if o.Deny != "" {
			some = append(some, o)
		}
	}
	return some
}

// scopeLabels are the words for the scopes where there is one line for each.
var scopeLabels = map[string]string{
	"exact":  "This exact call",
	"folder": "Its folder",
	"tool":   "All of it",
}

// scopes is the page on which the person picks how far the rule goes.
func scopes(offers []queue.Offer, reply gate.Reply, foot string) page {
	p := page{
		decision: "clawai asks: always allow how much?",
		choices:  []choice{{wordDeny, "Deny, write nothing", false}},
		footer:   foot,
	}
	if reply == gate.DenyAlways {
		p.decision = "clawai asks: always deny how much?"
		p.choices[0].label = "Deny once, write nothing"
	}
	var facts []string
	for _, o := range offers {
		facts = append(facts, fmt.Sprintf("%-10s %s", o.Scope, term.Text(o.Title)))
		p.choices = append(p.choices, choice{o.Scope, scopeLabels[o.Scope], reply.Allows()})
	}
	p.facts = lines(facts...)
	return p
}

// confirmation shows the rule before it is written.
func confirmation(path string, o queue.Offer, reply gate.Reply, foot string) page {
	facts := []string{fmt.Sprintf("This rule would be written into %s,", term.Text(path)), "above the rule that asked:", ""}
	p := page{
		decision: "clawai asks: write this rule and allow?",
		choices: []choice{
			{wordDeny, "Deny, write nothing", false},
			{wordWrite, "Write the rule and allow", true},
			{wordAllow, "Allow once, write nothing", true},
		},
		footer: foot,
	}
	text, lets := o.Allow, "It lets through"
	if reply == gate.DenyAlways {
		text, lets = o.Deny, "It denies"
		p.decision = "clawai asks: write this rule and deny?"
		p.choices[0].label = "Deny once, write nothing"
		p.choices[1].label, p.choices[1].lets = "Write the rule and deny", false
	}
	for line := range strings.Lines(text) {
		facts = append(facts, "  "+term.Text(strings.TrimRight(line, "\n")))
	}
	facts = append(facts, "", lets+" "+term.Text(o.Title)+".")
	if o.Example != "" {
		facts = append(facts, "For example, beside this call: "+term.Text(o.Example))
	}
	p.facts = lines(facts...)
	return p
}

// refused tells the person that nothing is written, and why.
func refused(why error, foot string) page {
	return page{
		facts:    lines("Nothing is written.", term.Text(why.Error())),
		decision: "clawai asks: let this call through?",
		choices:  []choice{{wordDeny, "Deny", false}, {wordAllow, "Allow once", true}},
		footer:   foot,
	}
}
