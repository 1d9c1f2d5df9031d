package dialog

import (
	"fmt"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
)

// Page is one question in all its presentations. All its texts are harmless.
type Page struct {
	Facts    Facts    // nil: the page shows no facts, or those of Question.Under
	Decision string   // always visible, directly above the choices
	Choices  []Choice // the first choice allows nothing and is preset
	Others   []Choice // other keys or words, which do not answer
	Hints    []string // harmless words after the keys
	Prompt   string   // an input line below everything
	Alarm    bool     // the question needs care: the decision is red where there are colours
	Headed   bool     // the first row of the facts is a headline
}

// MaxRows is the maximum length of several questions together, because a person does not read more
// before answering.
const MaxRows = 2000

// Facts returns harmless rows, any of which may be scrolled out of sight. need is how many of
// them must have been visible before a choice that allows. Width 0 does not wrap.
type Facts func(width int) (rows []string, need int)

// TextFacts returns facts of our own; all of them must have been visible.
func TextFacts(lines ...string) Facts {
	return func(width int) ([]string, int) {
		rows := view.Wrap(lines, width)
		return rows, len(rows)
	}
}

// Choice is one answer.
type Choice struct {
	Word   string // typed in full where there is no menu
	Label  string // text in a menu
	Key    string // chooses at once, where letters do; "" for none
	Brief  string // text after Key, where there is no menu
	Lets   bool   // allows something, or leads to a choice that does
	Closed string // reason why the choice is unavailable; "" if it is available
}

// The words of the answers to a call.
const (
	Deny    = "deny"
	Allow   = "allow"
	Session = "session"
	Always  = "always"
	Never   = "never"
)

// ReplyForWord returns the answer for a word; deny for an unknown word.
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

// Asked holds the facts that determine the possible answers to a call.
type Asked struct {
	Calls     int    // number of calls in the question
	Reply     bool   // the calls were made, and the question is about the answer
	Dangerous bool   // the question needs care
	DenyOnly  string // reason why the call can only be denied; "" for none
	Session   bool   // a session answer is possible
	Further   bool   // a session answer can cover more than this call
	Always    bool   // a rule that allows can be written
	Never     bool   // a rule that denies can be written
	NoRule    string // reason why no rule can be written; "" for none
}

// CallPage returns the page about the call that facts describe.
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
	what, alarm := "it", "" // short, to fit beside DANGEROUS in 40 columns
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
		shut(i, a.DenyOnly == "", a.DenyOnly)
	}
	return p
}

// The words of the answers to ConfirmPage.
const (
	No  = "no"
	Yes = "yes"
)

// ConfirmPage asks for a confirmation. Without facts, the facts of Question.Under stay visible.
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

// DangerPage asks for a confirmation before something dangerous is allowed. It shows the request,
// and why it needs care. All channels use this page.
func DangerPage(headline string, dangers []string, what string) Page {
	facts := []string{headline}
	for _, d := range dangers {
		facts = append(facts, view.Careful+d)
	}
	p := ConfirmPage("DANGEROUS. Really "+what+"?", what, true, facts...)
	p.Alarm, p.Headed = true, true
	return p
}

// Phrases for an answer that allows something dangerous, for DangerPage.
const (
	SureOnce    = "allow it once"
	SureSession = "allow it this session"
)

// findChoice returns the first choice that fits accepts; nil if there is none.
func (p *Page) findChoice(accepts func(*Choice) bool) *Choice {
	for _, list := range [][]Choice{p.Choices, p.Others} {
		for i := range list {
			if accepts(&list[i]) {
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
