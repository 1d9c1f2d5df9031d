package console

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/clawai/clawai/internal/ask/dialog"
	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/text/term"
)

// channel is how answers given here are recorded.
const channel = "console"

// answer gives the answer of a word to one request that waits.
func (m *model) answer(r *queue.Request, word string) {
	switch word {
	case dialog.Deny:
		m.send(r, queue.Answer{Reply: gate.DenyOnce})
	case dialog.Allow:
		m.allow(r, gate.AllowOnce, dialog.SureOnce)
	case dialog.Session:
		m.session(r)
	case dialog.Always, dialog.Never:
		m.always(r, dialog.Reply(word))
	case "note":
		m.startNote(r)
	}
}

// allow sends an answer that allows, after a second key when care is needed.
func (m *model) allow(r *queue.Request, reply gate.Reply, what string) {
	a := queue.Answer{Reply: reply}
	if !m.facts.Careful() {
		m.send(r, a)
		return
	}
	id := r.ID
	q := &question{id: id, yes: func() {
		if r := m.pending.find(id); r != nil {
			m.send(r, a)
		}
	}}
	q.Page = dialog.Sure(m.facts.Headline(0), m.facts.Dangers, what)
	m.openQuestion(q)
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
	a.Channel, a.By, a.Words = channel, m.o.By, m.notes[r.ID]
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
		title = m.title(r)
	}
	if settled, ok := errors.AsType[*queue.ResolvedError](msg.err); ok {
		m.pending.resolve(settled.Request)
		m.redraw()
		m.addNews("%s: %s", title, TooLateText(settled.Request))
		if m.o.Only != "" {
			m.done(Result{Request: settled.Request})
		}
		m.wait()
		return
	}
	if msg.err != nil {
		m.addNews("%s: the answer could not be given: %s", title, term.Text(msg.err.Error()))
		m.wait()
		return
	}
	m.answered[msg.id] = true
	m.awaited[msg.id] = title
	m.pending.resolve(msg.now)
	m.redraw()
	m.addNews("%s: %s", title, AnswerText(msg.answer))
	if m.o.Only != "" || m.o.Once {
		m.done(Result{Request: msg.now, Answered: true})
		return
	}
	m.load()
	if m.pending.at == msg.id && m.pending.nextPending() {
		m.wait()
	}
}

// answerMarked answers all the marked requests, each for itself and once only.
func (m *model) answerMarked(reply gate.Reply) {
	word, facts, ids, left := "deny", []string(nil), []string(nil), 0
	var qs []view.Question
	if reply.Allows() {
		word = "allow"
	}
	for _, r := range m.pending.marked() {
		f := m.brief(r)
		switch {
		case reply.Allows() && f.Careful():
			left++
			continue
		case reply.Allows():
			qs = append(qs, FactsOf(r, m.o.View).Question)
		default:
			facts = append(facts, fmt.Sprintf("%3d  %s", len(ids)+1, f.Line(500)))
		}
		ids = append(ids, r.ID)
	}
	if len(qs) > 0 {
		facts = view.Several(qs, 0)
	}
	if len(facts) > dialog.MaxRows {
		m.addNews("together they are too long to be read; mark fewer")
		return
	}
	if left > 0 {
		facts = append(facts, "", fmt.Sprintf("Left out: %d dangerous. Look at each of those and answer it alone.", left))
	}
	if len(ids) == 0 {
		m.addNews("all that are marked are dangerous; each must be looked at and answered alone")
		return
	}
	q := &question{yes: func() {
		for _, id := range ids {
			delete(m.pending.marks, id)
			if r := m.pending.find(id); r != nil && r.Status == queue.Pending && !m.sending[id] {
				m.send(r, queue.Answer{Reply: reply})
			}
		}
		m.wait()
	}}
	title := fmt.Sprintf("%s these %d, each once?", strings.ToUpper(word[:1])+word[1:], len(ids))
	q.Page = dialog.Confirm(title, fmt.Sprintf("%s %d", word, len(ids)), reply.Allows(), facts...)
	m.openQuestion(q)
}
