package console

import "github.com/clawai/clawai/internal/approve/screen"

// question is one of our own that must be answered before anything happens. Its
// page has the choices back and yes; without facts it keeps those of the request.
type question struct {
	screen.Question
	id     string                // the request it is about: it closes when that is resolved; "" for none
	yes    func()                // what y does
	choose func(key string) bool // other keys that mean something; nil for none
}

// confirm is a page of our own: y does what, every other key goes back.
func confirm(title, what string, lets bool, facts ...string) screen.Page {
	p := screen.Page{
		Decision: title,
		Choices:  []screen.Choice{{Word: "back"}, {Word: "yes", Key: "y", Brief: what, Lets: lets}},
		Hints:    []string{"any other key goes back"},
	}
	if len(facts) > 0 {
		p.Facts = screen.Text(facts...)
	}
	return p
}

// openQuestion opens a question. Keys typed before it could be read do not answer it.
func (m *model) openQuestion(q *question) {
	q.Letters, q.Grace, q.Under = true, &m.grace, m.shown
	m.ask = q
	m.wait()
}

// pressAsk answers it: y is yes, a key that chooses chooses, and every other
// goes back.
func (m *model) pressAsk(key string) {
	q := m.ask
	did, _ := q.Press(key)
	switch {
	case did == screen.Chosen:
		m.ask = nil
		q.yes()
		return
	case did == screen.Stray && (q.choose == nil || !q.choose(key)):
		m.ask = nil
		m.addNews("nothing was done")
	}
	m.wait()
}
