package console

import "github.com/clawai/clawai/internal/ask/dialog"

// question is one of our own that must be answered before anything happens. Its
// page has the choices back and yes; without facts it keeps those of the request.
type question struct {
	dialog.Question
	id     string                // the request it is about: it closes when that is resolved; "" for none
	yes    func()                // what y does; nil where nothing is asked
	choose func(key string) bool // other keys that mean something; nil for none
}

// openQuestion opens a question. Keys typed before it could be read do not answer it.
func (m *model) openQuestion(q *question) {
	q.Letters, q.Menu, q.Grace, q.Under = true, true, &m.grace, m.shown
	if q.choose == nil {
		q.Hints = append(q.Hints, "Esc go back")
	}
	m.ask = q
	m.startGrace()
}

// pressAsk answers it: as its menu does, y is yes, a key that chooses chooses, and every
// other goes back.
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
