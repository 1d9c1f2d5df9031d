package console

import "github.com/clawai/clawai/internal/ask/dialog"

// question is a question of the console itself, such as a confirmation. The person must answer it
// before anything else. Its page has the choices "back" and "yes". If the page has no facts, it
// shows the facts of the request.
type question struct {
	dialog.Question
	id     string                // id of the request that the question is about; "" for none. When that request is resolved, the question closes.
	yes    func()                // called when the person presses y; nil if the page asks nothing
	choose func(key string) bool // handles the other keys and reports whether it knows the key; nil for none
}

// openQuestion shows a question. A key counts as an answer only after a short time, so that the
// person can read the question first.
func (m *model) openQuestion(q *question) {
	q.Letters, q.Menu, q.Grace, q.Under = true, true, &m.grace, m.shown
	if q.choose == nil {
		q.Hints = append(q.Hints, "Esc go back")
	}
	m.ask = q
	m.startGrace()
}

// pressAsk handles a key for the open question. The keys of the menu, the key y and the keys that
// q.choose knows have an effect; every other key closes the question.
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
