package console

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/clawai/clawai/internal/approve/queue"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/term"
)

// rung is how answers given here are recorded.
const rung = "console"

// answerOne handles an answer key for one request that waits.
func (m *model) answerOne(r *queue.Request, key string) {
	f := m.entire(r)
	if f.Err != nil && key != "d" && key != "n" {
		m.tell("it cannot be shown, so it can only be denied: d")
		return
	}
	if slices.Contains([]string{"a", "s", "A"}, key) && !m.inSight.sight.End() {
		m.readOn()
		return
	}
	switch key {
	case "d":
		m.send(r, queue.Answer{Reply: gate.DenyOnce})
	case "a":
		m.allow(r, queue.Answer{Reply: gate.AllowOnce}, "allow it once")
	case "s":
		if !r.Lasting {
			m.tell("an answer for the session cannot hold for this call: a allows it once")
			return
		}
		m.allow(r, queue.Answer{Reply: gate.AllowSession}, "allow this call until the session ends")
	case "A":
		m.always(r, gate.AllowAlways)
	case "D":
		m.always(r, gate.DenyAlways)
	case "n":
		m.startNote(r)
	}
}

// allow sends an answer that allows, after a second key when care is needed.
func (m *model) allow(r *queue.Request, a queue.Answer, what string) {
	f := m.entire(r)
	if !f.Careful() {
		m.send(r, a)
		return
	}
	id := r.ID
	m.detail.top = 0 // where the reasons are
	m.put(&question{
		id:    id,
		title: "DANGEROUS, as said above. Really " + what + "?",
		keys:  []string{"y " + what, "any other key goes back"},
		yes: func() {
			if r := m.pending.find(id); r != nil {
				m.send(r, a)
			}
		},
	})
}

func (m *model) startNote(r *queue.Request) {
	id := r.ID
	m.edit = &editor{label: "note for the agent:", text: []rune(m.notes[id]), done: func(s string) {
		m.notes[id] = strings.TrimSpace(s)
	}}
}

// storing is how long the queue may take for an answer. It does not end with
// the console: what was pressed is stored or refused, and said.
const storing = 5 * time.Second

// send hands one answer to one request to the queue, by its id.
func (m *model) send(r *queue.Request, a queue.Answer) {
	a.Rung, a.By, a.Words = rung, m.o.By, m.notes[r.ID]
	id, q := r.ID, m.o.Queue
	m.sending[id] = true
	m.do(func(ctx context.Context) tea.Msg {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storing)
		defer cancel()
		now, err := q.Decide(ctx, id, a)
		return decidedMsg{id, a, now, err}
	})
}

// decided tells what came of an answer that was sent.
func (m *model) decided(msg decidedMsg) {
	delete(m.sending, msg.id)
	var title string
	if r := m.pending.find(msg.id); r != nil {
		title = m.brief(r)
	}
	if settled, ok := errors.AsType[*queue.Settled](msg.err); ok {
		m.pending.settle(settled.Request)
		m.of = ""
		m.tell("%s: %s", title, TooLate(settled.Request))
		if m.o.Only != "" {
			m.done(Result{Request: settled.Request})
		}
		m.wait()
		return
	}
	if msg.err != nil {
		m.tell("%s: the answer could not be given: %s", title, term.Text(msg.err.Error()))
		m.wait()
		return
	}
	m.answered[msg.id] = true
	m.awaited[msg.id] = title
	m.pending.settle(msg.now)
	m.of = ""
	m.tell("%s: %s", title, Said(msg.answer))
	if m.o.Only != "" || m.o.Once {
		m.done(Result{Request: msg.now, Answered: true})
		return
	}
	m.load()
	if m.pending.at == msg.id && m.pending.onward() {
		m.wait()
	}
}

// maxRows is how long a list is at most: nobody reads more before they answer.
const maxRows = 2000

// alone is all of a request that is allowed together with others.
func (m *model) alone(r *queue.Request) []string {
	rows, _ := FactsOf(r, m.o.View).Rows(0)
	return rows
}

// answerMarked answers all the marked requests, each for itself and once only.
func (m *model) answerMarked(key string) {
	a := queue.Answer{Reply: gate.DenyOnce}
	word := "deny"
	switch key {
	case "d":
	case "a":
		a.Reply, word = gate.AllowOnce, "allow"
	default:
		m.tell("with several marked only a (allow once) and d (deny) answer; esc takes the marks back")
		return
	}
	var facts, ids []string
	left := 0
	for _, r := range m.pending.marked() {
		f := m.facts(r)
		if a.Reply.Allows() && f.Careful() {
			left++
			continue
		}
		ids = append(ids, r.ID)
		if a.Reply.Allows() {
			facts = append(facts, fmt.Sprintf("── %d  %s", len(ids), f.Title))
			facts = append(facts, m.alone(r)...)
		} else {
			facts = append(facts, fmt.Sprintf("%3d  %s", len(ids), f.Short(500)))
		}
	}
	if len(facts) > maxRows {
		m.tell("together they are too long to be read; mark fewer")
		return
	}
	if left > 0 {
		facts = append(facts, "", fmt.Sprintf("Left out: %d dangerous. Look at each of those and answer it alone.", left))
	}
	if len(ids) == 0 {
		m.tell("all that are marked are dangerous; each must be looked at and answered alone")
		return
	}
	m.put(&question{
		facts: facts,
		lets:  a.Reply.Allows(),
		title: fmt.Sprintf("%s these %d, each once?", strings.ToUpper(word[:1])+word[1:], len(ids)),
		keys:  []string{fmt.Sprintf("y %s %d", word, len(ids)), "any other key goes back"},
		yes: func() {
			for _, id := range ids {
				delete(m.pending.marks, id)
				if r := m.pending.find(id); r != nil && r.Status == queue.Pending && !m.sending[id] {
					m.send(r, a)
				}
			}
			m.wait()
		},
	})
}
