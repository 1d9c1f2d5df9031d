package dialog

import (
	"fmt"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
)

// Page is one question, the same for all ways of showing it. All its texts are
// harmless.
type Page struct {
	Facts    Facts    // nil: none, or those of the question it stands on
	Decision string   // always in sight, directly above the choices
	Choices  []Choice // the first one lets nothing through and is preset
	Others   []Choice // what else a key or a word does, without answering
	Hints    []string // harmless words behind the keys
	Prompt   string   // a line that the person types, below all
	Alarm    bool     // it needs care: the decision is red where there are colours
	Headed   bool     // the first row of the facts is a headline
}

// MaxRows is how long several questions are together at most: nobody reads more
// before they answer.
const MaxRows = 2000

// Facts are harmless rows, of which any may be scrolled out of sight, and how
// many of them must have been in sight before a choice that lets. Width 0 does
// not wrap.
type Facts func(width int) (rows []string, need int)

// TextFacts gives facts of our own, all of which must have been in sight.
func TextFacts(lines ...string) Facts {
	return func(width int) ([]string, int) {
		rows := view.Wrap(lines, width)
		return rows, len(rows)
	}
}

// Choice is one answer.
type Choice struct {
	Word   string // typed in full where there is no menu
	Label  string // in a menu
	Key    string // chooses it at once, where letters do; "" for none
	Brief  string // behind Key, where there is no menu
	Lets   bool   // lets something through, or leads there
	Closed string // why it is not offered; "" where it is
}

// The words of the answers to a call.
const (
	Deny    = "deny"
	Allow   = "allow"
	Session = "session"
	Always  = "always"
	Never   = "never"
)

// ReplyForWord gives the answer that a word stands for; deny for every other.
func ReplyForWord(word string) gate.Reply {
	switch word {
	case Allow:
		return gate.AllowOnce
	case Session:
		return gate.AllowSession
	case Always:
		return gate.AllowAlways
	case Never:
		return gate.DenyAlways
	}
	return gate.DenyOnce
}

// Asked is what the answers to a call depend on.
type Asked struct {
	Calls     int    // how many there are in the one question
	Reply     bool   // they were made: the answer is asked about
	Dangerous bool   // it needs care
	Unshown   bool   // it cannot be shown
	Session   bool   // an answer for the session can hold
	Further   bool   // and for more than this call
	Always    bool   // a rule that allows can be written
	Never     bool   // a rule that denies can be written
	NoRule    string // why none can; "" for no reason
}

// CallPage asks about the call that facts show.
func (a Asked) CallPage(facts Facts) Page {
	p := Page{Facts: facts, Alarm: a.Dangerous, Headed: true, Choices: []Choice{
		{Word: Deny, Label: "Deny", Key: "d", Brief: "deny"},
		{Word: Allow, Label: "Allow once", Key: "a", Brief: "allow once", Lets: true},
		{Word: Session, Label: "Allow this until the session ends", Key: "s", Brief: "for the session", Lets: true},
		{Word: Always, Label: "Always allow… (shows the rule)", Key: "A", Brief: "always…", Lets: true},
		{Word: Never, Label: "Always deny… (shows the rule)", Key: "D", Brief: "always deny…"},
	}}
	if a.Further {
		p.Choices[2].Label, p.Choices[2].Brief = "Allow for this session… (shows how far)", "for the session…"
	}
	what, alarm := "it", "" // short, to fit beside DANGEROUS on 40 columns
	if a.Dangerous {
		alarm = "DANGEROUS. "
	}
	if a.Calls > 1 {
		what = fmt.Sprintf("all %d", a.Calls)
	}
	if a.Reply {
		what = "its answer"
	}
	p.Decision = alarm + "clawai asks: let " + what + " through?"
	why := a.NoRule
	if why == "" {
		why = "no rule can be written for this call"
	}
	shut := func(i int, open bool, why string) {
		if !open {
			p.Choices[i].Closed = why
		}
	}
	shut(2, a.Session, "an answer for the session cannot hold for this call: it can be allowed once")
	shut(3, a.Always, "allow always is not offered: "+why)
	shut(4, a.Never, "deny always is not offered: "+why)
	for i := 1; i < len(p.Choices); i++ {
		shut(i, !a.Unshown, "it cannot be shown, so it can only be denied")
	}
	return p
}

// The words of the answers to Confirm.
const (
	No  = "no"
	Yes = "yes"
)

// ConfirmPage asks whether something is really meant. Without facts those of the question
// that it stands on stay in sight.
func ConfirmPage(decision, what string, lets bool, facts ...string) Page {
	p := Page{
		Decision: decision,
		Choices:  []Choice{{Word: No, Label: "No, go back", Brief: "go back"}, {Word: Yes, Label: "Yes, " + what, Key: "y", Brief: what, Lets: lets}},
	}
	if len(facts) > 0 {
		p.Facts = TextFacts(facts...)
	}
	return p
}

// DangerPage has an allow of something dangerous confirmed, the same everywhere: what is asked,
// and why it needs care.
func DangerPage(headline string, dangers []string, what string) Page {
	facts := []string{headline}
	for _, d := range dangers {
		facts = append(facts, view.Careful+d)
	}
	p := ConfirmPage("DANGEROUS. Really "+what+"?", what, true, facts...)
	p.Alarm, p.Headed = true, true
	return p
}

// What an answer to something dangerous is called when it is confirmed.
const (
	SureOnce    = "allow it once"
	SureSession = "allow it this session"
)

// findChoice gives the choice of a word, or of a key; nil for none.
func (p *Page) findChoice(is func(*Choice) bool) *Choice {
	for _, list := range [][]Choice{p.Choices, p.Others} {
		for i := range list {
			if is(&list[i]) {
				return &list[i]
			}
		}
	}
	return nil
}

func offeredChoices(all []Choice) (some []Choice) {
	for _, c := range all {
		if c.Closed == "" {
			some = append(some, c)
		}
	}
	return some
}
