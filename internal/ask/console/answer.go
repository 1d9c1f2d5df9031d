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

// channel is the name of this channel in the record.
const channel = "console"

// answerRequest answers one pending request. word stands for the answer.
func (m *model) answerRequest(r *queue.Request, word string) {
	switch word {
	case dialog.Deny:
		m.sendAnswer(r, queue.Answer{Reply: gate.DenyOnce})
	case dialog.Allow:
		m.allowRequest(r, gate.AllowOnce, dialog.SureOnce)
	case dialog.Session:
		m.allowSession(r)
	case dialog.Always, dialog.Never:
		m.chooseRule(r, dialog.ReplyForWord(word))
	case "note":
		m.startNote(r)
	}
}

// allowRequest sends an answer that allows. If the request needs care, the person must confirm the
// answer first.
func (m *model) allowRequest(r *queue.Request, reply gate.Reply, what string) {
	a := queue.Answer{Reply: reply}
	if !m.facts.NeedsCare() {
		m.sendAnswer(r, a)
		return
	}
	id := r.ID
	q := &question{id: id, yes: func() {
		if r := m.pending.findRequest(id); r != nil {
			m.sendAnswer(r, a)
		}
	}}
	q.Page = dialog.DangerPage(m.facts.Headline(0), m.facts.Dangers, what)
	m.openQuestion(q)
}

func (m *model) startNote(r *queue.Request) {
	id := r.ID
	m.edit = &editor{label: "note for the agent:", text: []rune(m.notes[id]), done: func(s string) {
		m.notes[id] = strings.TrimSpace(s)
	}}
}

// storing is how long the queue may take to store an answer. The console waits for this even after
// the person has left, so that the answer is stored or the person sees an error.
const storing = 5 * time.Second

// sendAnswer sends the queue an answer for the request r.
func (m *model) sendAnswer(r *queue.Request, a queue.Answer) {
	a.Channel, a.By, a.Words = channel, m.o.By, m.notes[r.ID]
	id, q := r.ID, m.o.Queue
	m.sending[id] = true
	m.runJob(func(ctx context.Context) tea.Msg {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storing)
		defer cancel()
		now, err := q.Decide(ctx, id, a)
		return decidedMsg{id, a, now, err}
	})
}

// reportDecision shows the person whether the queue took an answer.
func (m *model) reportDecision(msg decidedMsg) {
	delete(m.sending, msg.id)
	var title string
	if r := m.pending.findRequest(msg.id); r != nil {
		title = m.requestTitle(r)
	}
	if settled, ok := errors.AsType[*queue.ResolvedError](msg.err); ok {
		m.pending.resolveRequest(settled.Request)
		m.redrawDetail()
		m.addNews("%s: %s", title, TooLateText(settled.Request))
		if m.o.Only != "" {
			m.endConsole(Result{Request: settled.Request})
		}
		m.startGrace()
		return
	}
	if msg.err != nil {
		m.addNews("%s: the answer could not be given: %s", title, term.VisibleText(msg.err.Error()))
		m.startGrace()
		return
	}
	m.answered[msg.id] = true
	m.awaited[msg.id] = title
	m.pending.resolveRequest(msg.now)
	m.redrawDetail()
	m.addNews("%s: %s", title, AnswerText(msg.answer))
	if m.o.Only != "" || m.o.Once {
		m.endConsole(Result{Request: msg.now, Answered: true})
		return
	}
	m.loadQueue()
	if m.pending.at == msg.id && m.pending.nextPending() {
		m.startGrace()
	}
}

// answerMarked gives the same answer to all marked requests after a confirmation. It leaves out
// dangerous requests if the answer allows. Each answer is for one call.
func (m *model) answerMarked(reply gate.Reply) {
	word, facts, ids, left := "deny", []string(nil), []string(nil), 0
	var qs []view.Question
	if reply.Allows() {
		word = "allow"
	}
	for _, r := range m.pending.markedRequests() {
		f := m.briefFacts(r)
		switch {
		case reply.Allows() && f.NeedsCare():
			left++
			continue
		case reply.Allows():
			qs = append(qs, FactsOf(r, m.o.View).Question)
		default:
			facts = append(facts, fmt.Sprintf("%3d  %s", len(ids)+1, f.RequestLine(500)))
		}
		ids = append(ids, r.ID)
	}
	if len(qs) > 0 {
		facts = view.RenderSeveral(qs, 0)
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
			if r := m.pending.findRequest(id); r != nil && r.Status == queue.Pending && !m.sending[id] {
				m.sendAnswer(r, queue.Answer{Reply: reply})
			}
		}
		m.startGrace()
	}}
	title := fmt.Sprintf("%s these %d, each once?", strings.ToUpper(word[:1])+word[1:], len(ids))
	q.Page = dialog.ConfirmPage(title, fmt.Sprintf("%s %d", word, len(ids)), reply.Allows(), facts...)
	m.openQuestion(q)
}
