package console

import "github.com/clawai/clawai/internal/approve/view"

// question is one of our own that must be answered before anything happens.
type question struct {
	id     string   // the request it is about: it closes when that is settled; "" for none
	facts  []string // harmless lines shown instead of the details; nil keeps these
	title  string   // always in sight, directly above the keys
	keys   []string
	yes    func() // what y does
	lets   bool   // it lets something through: y waits for the end of facts to have been in sight
	sight  view.Sight
	choose func(key string) bool // other keys that mean something; nil for none
}

// put opens a question. Keys typed before it could be read do not answer it.
func (m *model) put(q *question) {
	m.ask, m.of = q, ""
	m.wait()
}

// pressAsk answers it: y is yes, a key that chooses chooses, and every other
// goes back.
func (m *model) pressAsk(key string) {
	if m.early() {
		m.wait()
		return
	}
	q := m.ask
	if key == "y" && q.lets && q.facts != nil && !q.sight.End() {
		m.readOn()
		return
	}
	if q.choose != nil && q.choose(key) {
		m.of, m.detail.top, q.sight = "", 0, view.Sight{}
		m.wait()
		return
	}
	m.ask, m.of = nil, ""
	if key == "y" {
		q.yes()
		return
	}
	m.tell("nothing was done")
	m.wait()
}
