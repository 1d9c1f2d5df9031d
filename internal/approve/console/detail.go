package console

import (
	"fmt"

	"github.com/clawai/clawai/internal/approve/queue"
	"github.com/clawai/clawai/internal/approve/view"
	"github.com/clawai/clawai/internal/gate"
)

// detailRows is the window onto what is asked, or onto our own question, with a
// last line that tells of what is out of sight.
func (m *model) detailRows(n int) []string {
	p := &m.detail
	p.scroll(0, n+1)
	end := min(p.top+n, len(p.rows))
	rows := fill(append([]string(nil), p.rows[p.top:end]...), n)
	if len(p.rows) <= n {
		return append(rows, "")
	}
	return append(rows, clip(m.seen().Rest(p.top, end, len(p.rows)), m.width))
}

// seen is how far what the details show has been in sight, as far as an answer
// depends on it.
func (m *model) seen() *view.Sight {
	switch r := m.pending.current(); {
	case m.ask != nil && m.ask.lets && m.ask.facts != nil:
		return &m.ask.sight
	case m.ask == nil && m.tab == pendingTab && r != nil && r.Status == queue.Pending && r.ID == m.inSight.id:
		return &m.inSight.sight
	}
	read := view.Sight{}
	read.See(0, 0)
	return &read
}

// look notes what is in sight now.
func (m *model) look() {
	if m.height == 0 || m.tooSmall() {
		return
	}
	n := m.layout().detail
	m.detail.scroll(0, n+1)
	m.seen().See(m.detail.top+n, m.detail.need)
}

// readOn shows the next lines to a person who has just tried to allow before the
// end was in sight. Nothing is answered.
func (m *model) readOn() {
	n := m.layout().detail
	m.detail.scroll(n, n+1)
	m.tell("nothing was answered: read to the end first (PgDn, End), then allow")
	m.wait()
}

// refresh makes the rows of the details anew when they are about something else.
func (m *model) refresh() {
	if m.height == 0 || m.tooSmall() {
		return
	}
	what, rows := m.subject()
	if m.of == what && what != "" {
		return
	}
	top := 0
	if m.detail.id == what {
		top = m.detail.top
	}
	m.of = what
	m.detail = pane{id: what, top: top}
	m.detail.rows, m.detail.need = rows()
}

// subject is what the details are about, and how to make their rows.
func (m *model) subject() (string, func() (rows []string, need int)) {
	if m.ask != nil && m.ask.facts != nil {
		return "ask " + m.ask.title, func() ([]string, int) { return all(wrap(m.ask.facts, m.width)) }
	}
	if l := m.list(); l != nil {
		r := l.current()
		if r == nil {
			return "nothing", func() ([]string, int) { return nil, 0 }
		}
		return fmt.Sprint(m.tab, r.ID), func() ([]string, int) { return m.lines(r, m.width, m.whole) }
	}
	g := m.grants.current()
	if g == nil {
		return "no grant", func() ([]string, int) { return nil, 0 }
	}
	return "grant " + g.ID, func() ([]string, int) { return all(grantLines(g, m.width, m.o.View.Home)) }
}

func all(rows []string) (same []string, need int) { return rows, len(rows) }

// titleRows is the line above the keys.
func (m *model) titleRows() []string {
	title := ""
	switch r := m.pending.current(); {
	case m.ask != nil:
		title = m.ask.title
	case m.tab == grantsTab:
		title = "Calls like these are let through without asking until their session ends."
	case m.tab == historyTab:
		title = "What was asked, and what became of it."
	case r == nil:
		title = "New requests appear here by themselves."
	case r.Status != queue.Pending:
		title = "This request waits no more: " + Fate(*r)
	case m.inDanger():
		title = "DANGEROUS. clawai asks: let it through?"
	default:
		title = "clawai asks: let this through?"
	}
	rows := wrap([]string{title}, m.width)
	return rows[:min(len(rows), 2)]
}

// keyRows says what keys do now.
func (m *model) keyRows() []string {
	switch {
	case m.edit != nil:
		return append(flow([]string{"Return keeps it", "Esc leaves it as it was"}, m.width), m.edit.row(m.width))
	case m.early():
		return fill([]string{"One moment…"}, len(flow(m.keys(), m.width)))
	}
	return flow(m.keys(), m.width)
}

func (m *model) keys() []string {
	if m.ask != nil {
		return m.ask.keys
	}
	move := []string{"↑ ↓ choose", "/ filter", "Tab next page", "q leave"}
	if m.o.Only != "" {
		move = []string{"q leave without an answer"}
	}
	r := m.pending.current()
	switch {
	case m.tab == historyTab:
		return move
	case m.tab == grantsTab:
		return append([]string{"r take back"}, move[0], move[2], move[3])
	case r == nil || r.Status != queue.Pending:
		return move
	case len(m.pending.marks) > 0:
		return append([]string{"a allow the marked once", "d deny the marked", "space mark", "esc no marks"}, move...)
	}
	keys := []string{"a allow once"}
	if r.Lasting {
		keys = append(keys, "s for the session")
	}
	if len(r.Offers) > 0 {
		keys = append(keys, "A always…")
	}
	keys = append(keys, "d deny")
	if len(Offered(r, gate.DenyAlways)) > 0 {
		keys = append(keys, "D always deny…")
	}
	keys = append(keys, "n note")
	if m.inSight.facts != nil && m.inSight.facts.gaps() {
		keys = append(keys, "w without gaps")
	}
	if m.o.Only == "" && !m.o.Once {
		keys = append(keys, "space mark")
	}
	return append(keys, move...)
}
