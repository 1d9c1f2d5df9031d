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
	facts    func(width int) []string // harmless rows, 0: not wrapped; any may be scrolled out of sight
	must     func(width int) int      // how many of them must have been in sight before one that lets is chosen; nil: all
	decision string                   // one line, always shown, directly above the choices
	choices  []choice                 // the first one denies and is preset
	footer   string                   // one line below the choices
}

// choice is one answer: word is typed in full where there is no menu. One that
// lets something through, or leads there, needs the facts to have been in sight.
type choice struct {
	word, label string
	lets        bool
}

// needed is how many of the rows of the page must have been in sight before
// something is let through.
func (p *page) needed(rows, width int) int {
	if p.must == nil {
		return rows
	}
	return min(p.must(width), rows)
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
func lines(text ...string) func(int) []string {
	return func(width int) []string { return wrap(text, width) }
}

// shown is everything about one question, in rows.
func shown(v view.Question, more ...string) func(int) []string {
	return func(width int) []string {
		rows := append(v.Lines(width), v.Entire(width)...)
		return append(rows, wrap(more, width)...)
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
	if len(v.Dangers) == 0 {
		// Below stand only the values whose beginning, end and length were in
		// sight. What needs care may need it for what is in their middle.
		pg.must = func(width int) int { return len(v.Lines(width)) }
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
	facts := func(width int) []string {
		rows := wrap([]string{head}, width)
		for i, v := range vs {
			rows = append(rows, fmt.Sprintf("── call %d of %d", i+1, len(vs)))
			rows = append(append(rows, v.Lines(width)...), v.Entire(width)...)
		}
		return rows
	}
	if len(facts(0)) > maxRows {
		return page{}, errTooMany
	}
	return page{
		facts:    facts,
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
