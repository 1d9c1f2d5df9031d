package approve

import (
	"errors"
	"fmt"
	"time"

	"github.com/clawai/clawai/internal/approve/queue"
	"github.com/clawai/clawai/internal/approve/view"
	"github.com/clawai/clawai/internal/gate"
)

// page is one question as both forms of asking show it.
type page struct {
	facts    facts
	decision string   // one line, always shown, directly above the choices
	choices  []choice // the first one denies and is preset
	footer   string   // one line below the choices
}

// facts are harmless rows, of which any may be scrolled out of sight, and how
// many of them must have been in sight before a choice that lets. Width 0 does
// not wrap.
type facts func(width int) (rows []string, need int)

// choice is one answer: word is typed in full where there is no menu. One that
// lets something through, or leads there, needs the facts to have been in sight.
type choice struct {
	word, label string
	lets        bool
}

// lets says so of the choice of a word.
func (p *page) lets(word string) bool {
	for _, c := range p.choices {
		if c.word == word {
			return c.lets
		}
	}
	return false
}

const (
	wordDeny    = "deny"
	wordAllow   = "allow"
	wordSession = "session"
	wordAlways  = "always"
	wordNever   = "never"
	wordEach    = "each"
	wordMore    = "more"
)

// maxRows is how long a list is at most: nobody reads more before they answer.
const maxRows = 2000

// errTooMany says that questions do not fit on one page together.
var errTooMany = errors.New("together the calls are too many to show")

// lines are facts of our own.
func lines(text ...string) facts {
	return func(width int) ([]string, int) {
		rows := wrap(text, width)
		return rows, len(rows)
	}
}

// shown is everything about one question, in rows.
func shown(v view.Question, more ...string) facts {
	return func(width int) ([]string, int) {
		rows, need := v.Rows(width)
		return append(rows, wrap(more, width)...), need
	}
}

// ask is the page of a question. Without offers "always" is no answer, and
// whyNot, when not empty, says why.
func ask(q gate.Question, v view.Question, offers []queue.Offer, whyNot string) page {
	pg := page{
		facts: shown(v),
		choices: []choice{
			{wordDeny, "Deny", false},
			{wordAllow, "Allow once", true},
		},
		footer: footer(q.Deadline),
	}
	if q.Session {
		pg.choices = append(pg.choices, choice{wordSession, "Allow this until the session ends", true})
	}
	what := "this"
	if len(q.Calls) > 1 {
		what = fmt.Sprintf("all %d", len(q.Calls))
	}
	pg.decision = "clawai asks: let " + what + " through?"
	if len(v.Dangers) > 0 {
		pg.decision = "CAREFUL. Let " + what + " through?"
	}
	switch {
	case len(offers) > 0:
		pg.choices = append(pg.choices, choice{wordAlways, "Always allow… (shows the rule)", true})
		if len(denying(offers)) > 0 {
			pg.choices = append(pg.choices, choice{wordNever, "Always deny… (shows the rule)", false})
		}
	case whyNot != "":
		pg.facts = shown(v, "always     not offered: "+whyNot)
	}
	return pg
}

// careful has an allow of something dangerous confirmed.
func careful(dangers []string, foot string) page {
	facts := []string{"You are about to let this through although it needs care:"}
	for _, d := range dangers {
		facts = append(facts, "  "+d)
	}
	return page{
		facts:    lines(facts...),
		decision: "CAREFUL. Let it through all the same?",
		choices:  []choice{{wordDeny, "Deny", false}, {wordAllow, "Allow, I have read it", true}},
		footer:   foot,
	}
}

// list is the page of several questions.
func list(qs []gate.Question, vs []view.Question) (page, error) {
	head := fmt.Sprintf("%d calls from server %s", len(qs), vs[0].Server)
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
		rows := wrap([]string{head}, width)
		for i, v := range vs {
			call, _ := v.Rows(width)
			rows = append(append(rows, fmt.Sprintf("── call %d of %d", i+1, len(vs))), call...)
		}
		return rows, len(rows)
	}
	if _, n := all(0); n > maxRows {
		return page{}, errTooMany
	}
	return page{
		facts:    all,
		decision: fmt.Sprintf("clawai asks: let all %d calls through?", len(qs)),
		choices: []choice{
			{wordDeny, "Deny all", false},
			{wordAllow, "Allow all, each once", true},
			{wordEach, "Ask one by one", false},
		},
		footer: footer(first),
	}, nil
}

func footer(deadline time.Time) string {
	if deadline.IsZero() {
		return ""
	}
	return "No answer by " + deadline.Local().Format(time.TimeOnly) + " denies."
}
