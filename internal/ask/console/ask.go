package console

import "github.com/clawai/clawai/internal/ask/dialog"

// question is one of our own questions that must be answered first. Its page has the choices back
// and yes; without facts of its own, it shows the facts of the request.
type question struct {
	dialog.Question
	id     string                // the question's request: the question closes when the request is resolved; "" for none
	yes    func()                // runs on y; nil where nothing is asked
	choose func(key string) bool // handles other keys; nil for none
}

// openQuestion opens a question. Keys typed before the question could be read do not answer it.
func (m *model) openQuestion(q *question) {
	q.Letters, q.Menu, q.Grace, q.Under = true, true, &m.grace, m.shown
	if q.choose == nil {
		q.Hints = append(q.Hints, "Esc go back")
	}
	m.ask = q
	m.startGrace()
}

// pressAsk handles a key for the open question: keys of its menu, y for yes, and keys that
// choose; every other key goes back.
func (m *model) pressAsk(key string) {
	q := m.ask
	did, c := q.PressKey(key)
	switch {
	case did == dialog.Chosen && c.Word == dialog.Yes:
		m.ask = nil
		q.yes()
		return
	case did == dialog.Chosen, did == dialog.Stray && (q.choose == nil || !q.choose(key)):
		if m.ask = nil; q.yes != nil {
			m.addNews("nothing was done")
		}
	}
	m.startGrace()
}
