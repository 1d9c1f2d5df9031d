package dialog

import (
	"fmt"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
)

// Page is the content of one question, for all ways to show it. All its texts are harmless.
type Page struct {
	Facts    Facts    // nil: the page shows the facts of Question.Under, or none
	Decision string   // always visible, directly above the choices
	Choices  []Choice // the first choice denies or goes back; it is selected at the start
	Others   []Choice // other keys or words; they are not answers
	Hints    []string // harmless words after the keys in the help
	Prompt   string   // an input line below everything
	Alarm    bool     // the question needs care: the decision is red if the terminal has colours
	Headed   bool     // the first row of the facts is a headline
}

// MaxRows is the maximum number of rows if one answer is for several questions. A person does not
// read more rows before answering.
const MaxRows = 2000

// Facts returns harmless rows; the page may scroll each of them out of sight. need is the number of
// rows, from the top, that the person must have seen before a choice that allows. If width is 0,
// the rows are not wrapped.
type Facts func(width int) (rows []string, need int)

// TextFacts returns facts from texts of our own. The person must have seen all their rows before a
// choice that allows.
func TextFacts(lines ...string) Facts {
	return func(width int) ([]string, int) {
		rows := view.Wrap(lines, width)
		return rows, len(rows)
	}
}

// Choice is one answer.
type Choice struct {
	Word   string // the word that the person types if there is no menu
	Label  string // text in a menu
	Key    string // the key that selects this choice at once, if Question.Letters is set; "" for none
	Brief  string // text after Key if there is no menu
	Lets   bool   // the choice allows something, or opens a page with such a choice
	Closed string // reason why the choice is unavailable; "" if it is available
}

// Words of the answers to a question about a call.
const (
	Deny    = "deny"
	Allow   = "allow"
	Session = "session"
	Always  = "always"
	Never   = "never"
)

// ReplyForWord returns the answer that a word stands for. An unknown word denies.
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

// Asked holds the facts about a question that determine its choices.
type Asked struct {
	Calls     int    // number of calls in the question
	Reply     bool   // the call was made, and the question is about its result
	Dangerous bool   // the question needs care
	DenyOnly  string // reason why the call can only be denied; "" for none
	Session   bool   // a session answer is possible
	Further   bool   // a session answer can cover more than this call
	Always    bool   // a rule that allows can be written
	Never     bool   // a rule that denies this call can be written
	NoRule    string // reason why no rule can be written; "" for none
}

// CallPage returns the page of a question about a call. facts are the facts of the page.
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
	what, alarm := "it", "" // short, so that the line with DANGEROUS fits in 40 columns
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

// Words of the answers on a ConfirmPage.
const (
	No  = "no"
	Yes = "yes"
)

// ConfirmPage returns a page that asks for a confirmation. Without facts, the page shows the facts
// of Question.Under.
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

// DangerPage returns the page that asks for a confirmation before a dangerous call is allowed. It
// shows the request and the reasons for care. All channels use this page.
func DangerPage(headline string, dangers []string, what string) Page {
	facts := []string{headline}
	for _, d := range dangers {
		facts = append(facts, view.Careful+d)
	}
	p := ConfirmPage("DANGEROUS. Really "+what+"?", what, true, facts...)
	p.Alarm, p.Headed = true, true
	return p
}

// Phrases that DangerPage uses for an answer that allows.
const (
	SureOnce    = "allow it once"
	SureSession = "allow it this session"
)

// findChoice returns the first choice that the function accepts. It returns nil if the function accepts no choice.
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
