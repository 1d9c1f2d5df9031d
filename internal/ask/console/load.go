package console

import (
	"context"
	"errors"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/text/term"
)

// maxHistory is how many resolved requests the history shows.
const maxHistory = 200

// loadQueue reads the queue in the background. Only one read runs at a time.
func (m *model) loadQueue() {
	if m.loading {
		m.stale = true
		return
	}
	m.loading, m.stale = true, false
	look := []string{m.pending.at}
	for id := range m.awaited {
		look = append(look, id)
	}
	at, q, only := m.tab, m.o.Queue, m.o.Only
	m.runJob(func(ctx context.Context) tea.Msg { return readQueue(ctx, q, at, only, look) })
}

func readQueue(ctx context.Context, q Queue, at tab, only string, look []string) (msg loadedMsg) {
	if msg.pending, msg.err = q.Pending(ctx); msg.err != nil {
		return msg
	}
	waits := map[string]bool{}
	var mine []queue.Request
	for _, r := range msg.pending {
		waits[r.ID] = true
		if r.ID == only {
			mine = append(mine, r)
		}
	}
	if only != "" {
		msg.pending = mine
	}
	msg.looked = map[string]queue.Request{}
	for _, id := range look {
		if id == "" || waits[id] {
			continue
		}
		r, err := q.Get(ctx, id)
		if err == nil {
			msg.looked[id] = r
		} else if msg.err = err; !errors.Is(err, queue.ErrUnknown) {
			return msg
		}
	}
	msg.err = nil
	switch at {
	case historyTab:
		msg.past, msg.err = q.History(ctx, maxHistory)
	case grantsTab:
		msg.grants, msg.err = q.Grants(ctx)
	default:
	}
	return msg
}

// applyState shows the requests and session answers that loadQueue has read.
func (m *model) applyState(msg loadedMsg) {
	m.loading = false
	if m.stale {
		m.loadQueue()
	}
	if msg.err != nil {
		m.addNews("the queue cannot be read: %s", term.VisibleText(msg.err.Error()))
		return
	}
	first := !m.loaded
	m.loaded = true
	if first && m.o.CallsFirst && len(m.pages) > 0 && len(msg.pending) == 0 {
		m.showTab(callsTab)
	}
	came := m.applyPending(msg)
	m.reportOutcomes(msg.looked)
	for i := range came {
		if !first && m.o.Only == "" && (m.tab != pendingTab || came[i].ID != m.pending.at) {
			m.addNews("new: %s", m.requestTitle(&came[i]))
		}
	}
	if msg.past != nil {
		m.past.setRequests(msg.past, nil)
		m.past.ensureCursor()
	}
	m.grants.setGrants(msg.grants)
	m.forgetRequests()
}

func (m *model) applyPending(msg loadedMsg) (came []queue.Request) {
	seen := m.pending.cursorRequest()
	gone := m.resolvedUnderCursor(msg)
	came = m.pending.setRequests(msg.pending, gone)
	if gone != nil && seen != nil && seen.Status == queue.Pending && !m.sending[gone.ID] && !m.answered[gone.ID] {
		m.reportVanished(*gone)
	}
	if gone != nil && m.answered[gone.ID] && m.pending.nextPending() || m.pending.ensureCursor() ||
		seen == nil && m.pending.cursorRequest() != nil {
		m.startGrace()
	}
	if m.o.Only != "" && len(m.pending.all) == 0 {
		m.endConsole(Result{Request: msg.looked[m.o.Only]})
	}
	return came
}

// resolvedUnderCursor returns the request under the cursor in its resolved form; nil while the
// request is pending.
func (m *model) resolvedUnderCursor(msg loadedMsg) *queue.Request {
	was := m.pending.findRequest(m.pending.at)
	if was == nil || slices.ContainsFunc(msg.pending, func(r queue.Request) bool { return r.ID == was.ID }) {
		return nil
	}
	ghost, ok := msg.looked[was.ID]
	if !ok {
		ghost = *was
		if ghost.Status == queue.Pending {
			ghost.Status, ghost.Outcome, ghost.Decided = queue.Expired, "it is no longer in the queue", m.o.Now()
		}
	}
	ghost.Calls = was.Calls // show the original calls: a resolved request may hold redacted ones
	m.redrawDetail()
	return &ghost
}

// reportVanished tells the person that somebody else resolved the request under the cursor.
func (m *model) reportVanished(r queue.Request) {
	if m.o.Only != "" {
		m.endConsole(Result{Request: r})
		return
	}
	m.addNews("%s: %s", m.requestTitle(&r), StatusText(r))
	m.ask, m.edit = nil, nil
	m.redrawDetail()
	m.startGrace()
}

// reportOutcomes tells the person the outcomes of the calls that were answered in this console.
func (m *model) reportOutcomes(looked map[string]queue.Request) {
	for id, r := range looked {
		title, ok := m.awaited[id]
		if !ok || r.Outcome == "" {
			continue
		}
		delete(m.awaited, id)
		m.pending.resolveRequest(r)
		m.redrawDetail()
		m.addNews("%s, %s: %s", title, AnswerText(r.Answer), term.VisibleText(r.Outcome))
	}
}
