package console

import (
	"fmt"

	"github.com/clawai/clawai/internal/ask/dialog"
	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/text/term"
)

// refreshDetail draws the details of the row under the cursor. If the cursor is on another row now,
// the details start at their first line.
func (m *model) refreshDetail() {
	what, s := m.cursorSubject()
	if m.shown == nil || m.shownName != what {
		m.shownName, m.facts = what, nil
		m.shown = &dialog.Question{Grace: &m.grace, Letters: true}
		if s.request != nil {
			// The facts are made only once per request: changes are compared with the file as it is
			// when the request becomes visible.
			m.facts = FactsOf(s.request, m.o.View)
		}
	}
	m.shown.Page = m.subjectPage(s)
	if m.edit != nil {
		m.shown.Choices, m.shown.Others = nil, nil
		m.shown.Hints, m.shown.Prompt = []string{"Return keep it", "Esc leave it as it was"}, m.edit.renderRow(m.width)
	}
	// Arrows choose an answer only if there is no list to move in.
	m.shown.Menu = m.o.Only != "" && len(m.shown.Choices) > 0
	if m.ask != nil {
		m.ask.Under = m.shown
	}
	m.fits = m.height >= minHeight && m.activeQuestion().FitWindow(m.width, m.height-m.layoutWindow().rowsAbove()-m.layoutWindow().news)
}

// redrawDetail rebuilds the detail lines because the row under the cursor has changed.
func (m *model) redrawDetail() {
	if m.shown != nil {
		m.shown.ResetRows()
	}
}

// activeQuestion returns the question that gets the keys.
func (m *model) activeQuestion() *dialog.Question {
	if m.ask != nil {
		return &m.ask.Question
	}
	return m.shown
}

// subject is the thing under the cursor. At most one field is set.
type subject struct {
	request *queue.Request
	grant   *queue.Grant
	row     *Row
}

// cursorSubject returns the subject under the cursor, and a name that differs for each subject.
func (m *model) cursorSubject() (name string, s subject) {
	if l := m.tabList(); l != nil {
		if s.request = l.cursorRequest(); s.request != nil {
			name = s.request.ID
		}
	} else if p := m.page(); p != nil {
		if s.row = p.list.cursorRow(); s.row != nil {
			name = s.row.ID
		}
	} else if s.grant = m.grants.cursorGrant(); s.grant != nil {
		name = s.grant.ID
	}
	return fmt.Sprint(m.tab, name), s
}

// subjectPage returns the page with the details of the subject under the cursor.
func (m *model) subjectPage(s subject) dialog.Page {
	r, g := s.request, s.grant
	move := []string{"↑ ↓ move", "/ filter", "Tab next page", "? help", "q leave"}
	if m.o.Only != "" {
		move = []string{"? help", "q leave without an answer"}
	}
	p := dialog.Page{Decision: "New requests appear here by themselves.", Hints: move}
	if r != nil && m.tab == pendingTab && r.Status == queue.Pending {
		p = m.requestPage(r)
		p.Hints = append(p.Hints, move...)
	}
	switch {
	case r != nil && len(p.Choices) == 0:
		p.Facts = func(width int) ([]string, int) {
			rows, _ := m.detailLines(r, width)
			return rows, 0
		}
		p.Decision = "This request waits no more: " + StatusText(*r)
	case s.row != nil:
		p.Facts, p.Headed = func(width int) ([]string, int) { return s.row.Facts(width), 0 }, true
	case g != nil:
		p.Facts = func(width int) ([]string, int) { return grantLines(g, width, m.o.View.Home), 0 }
	}
	switch m.tab {
	case historyTab:
		p.Decision = "What was asked, and what became of it."
	case grantsTab:
		p.Decision = "Calls like these are let through without asking until their session ends."
		p.Hints = append([]string{"r take back"}, move[0], move[2], move[3], move[4])
	case pendingTab:
	default:
		p.Decision, p.Hints = m.page().Decision, append(rowHints(s.row), move...)
	}
	return p
}

// rowHints returns the help for the keys that have an effect on a row.
func rowHints(r *Row) (keys []string) {
	if r == nil {
		return nil
	}
	if r.Explain != nil {
		keys = append(keys, "Return why")
	}
	if r.Open != nil {
		keys = append(keys, "o open it")
	}
	return keys
}

// requestPage returns the page of a pending request.
func (m *model) requestPage(r *queue.Request) dialog.Page {
	p := requestAnswers(r, m.facts).CallPage(func(width int) ([]string, int) { return m.detailLines(r, width) })
	p.Others = []dialog.Choice{{Word: "note", Key: "n", Brief: "note"}}
	if m.o.Only == "" && !m.o.Once {
		p.Others = append(p.Others, dialog.Choice{Word: "mark", Key: "space", Brief: "mark"})
	}
	if m.facts.hasGaps() {
		p.Hints = []string{"w show without gaps"}
	}
	if len(m.pending.marks) > 0 {
		p.Choices[0].Brief, p.Choices[1] = "deny the marked", dialog.Choice{Word: dialog.Allow, Key: "a", Brief: "allow the marked once"}
		for _, c := range []*dialog.Choice{&p.Choices[2], &p.Choices[3], &p.Choices[4], &p.Others[0]} {
			c.Closed = "with several marked only a (allow once) and d (deny) answer; Esc takes the marks back"
		}
		p.Hints = []string{"Esc take the marks back"}
	}
	return p
}

// requestAnswers returns the possible answers to a request.
func requestAnswers(r *queue.Request, f *Facts) dialog.Asked {
	denyOnly := ""
	switch {
	case f.Err != nil:
		denyOnly = "it cannot be shown, so it can only be denied"
	case r.DenyOnly() != nil:
		denyOnly = term.VisibleText(r.DenyOnly().Error())
	}
	return dialog.Asked{
		Calls: len(r.Calls), Reply: r.IsReply(), Dangerous: f.NeedsCare(), DenyOnly: denyOnly, Session: r.Lasting, Further: len(view.ForSession(r.Offers)) > 1,
		Always: len(OffersFor(r, gate.AllowAlways)) > 0, Never: len(OffersFor(r, gate.DenyAlways)) > 0, NoRule: term.VisibleText(r.NoOffer),
	}
}
