package console

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/clawai/clawai/internal/ask/dialog"
	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/text/term"
)

// minHeight is the height of the smallest window in which keys answer.
const minHeight = 14

// sizes is the number of rows for each part of the screen besides the question.
type sizes struct{ list, news int }

// rowsAbove returns the number of rows above the question.
func (s sizes) rowsAbove() int {
	if s.list == 0 {
		return 1
	}
	return s.list + 2
}

// layoutWindow divides the window. The rows that decide always fit.
func (m *model) layoutWindow() sizes {
	s := sizes{news: 1}
	if m.height >= 20 {
		s.news = 2
	}
	if m.height >= 30 {
		s.news = 4
	}
	if m.o.Only == "" {
		rest := m.height - 2 - s.news - m.activeQuestion().FixedRows(m.width)
		share := 3 // the details of a question need the larger part
		if m.tab == callsTab {
			share = 2
		}
		s.list = max(1, min(m.countRows(), rest/share))
	}
	return s
}

func (m *model) countRows() int {
	if l := m.tabList(); l != nil {
		return len(l.matchingRequests())
	}
	if m.tab == callsTab {
		return len(m.calls.matchingCalls())
	}
	return len(m.grants.all)
}

func (m *model) View() tea.View {
	v := tea.View{AltScreen: true}
	switch {
	case m.height == 0 || m.err != nil:
	case !m.fits:
		v.Content = strings.Join(dialog.FillRows(view.Wrap([]string{
			"clawai: window too small.", fmt.Sprintf("A question needs %d columns and %d rows.", dialog.MinWidth, minHeight), "q leaves.",
		}, max(8, m.width)), m.height), "\n")
	default:
		v.Content = strings.Join(m.screenRows(), "\n")
	}
	return v
}

func (m *model) screenRows() []string {
	size := m.layoutWindow()
	rows := []string{dialog.RenderBold(view.Cut(m.headerLine(), m.width), false)}
	if m.o.Only == "" {
		rows = append(rows, dialog.FillRows(m.listRows(size.list), size.list)...)
		if _, s := m.cursorSubject(); s != (subject{}) || m.ask != nil { // otherwise the next line is a ruler too
			rows = append(rows, strings.Repeat("─", m.width))
		}
	}
	rows = append(rows, m.activeQuestion().Rows()...)
	news := m.news[max(0, len(m.news)-size.news):]
	rows = dialog.FillRows(rows, m.height-len(news))
	for _, line := range news {
		rows = append(rows, view.Cut(line, m.width))
	}
	return rows
}

// headerLine returns the tabs with their counts.
func (m *model) headerLine() string {
	if m.o.Only != "" {
		r := m.pending.cursorRequest()
		if r == nil {
			return "clawai"
		}
		return "clawai   one request" + m.countdown(r)
	}
	waiting := 0
	for i := range m.pending.all {
		if m.pending.all[i].Status == queue.Pending {
			waiting++
		}
	}
	names := m.tabNames(waiting)
	names[m.tab] = "[" + names[m.tab] + "]"
	s := "clawai   " + strings.Join(names, "   ")
	if filter := m.tabFilter(); filter != nil && *filter != "" {
		all := len(m.calls.all)
		if l := m.tabList(); l != nil {
			all = len(l.all)
		}
		s += fmt.Sprintf("   %d of %d hold %s", m.countRows(), all, term.VisibleValue(*filter))
	}
	return s
}

func (m *model) countdown(r *queue.Request) string {
	if r.Deadline.IsZero() || r.Status != queue.Pending {
		return ""
	}
	return ", " + strings.TrimSpace(TimeLeft(r, m.o.Now())) + " left"
}

func (m *model) listRows(n int) []string {
	l := m.tabList()
	switch {
	case m.tab == callsTab:
		return m.callRows(n)
	case l == nil:
		return m.grantRows(n)
	}
	var rows []string
	for _, r := range l.windowRows(n) {
		rows = append(rows, m.requestRow(r, r.ID == l.at, l.marks[r.ID]))
	}
	if len(rows) == 0 {
		switch {
		case !m.loaded:
			return []string{"  One moment…"}
		case l.filter != "" && len(l.all) > 0:
			return []string{"  Nothing matches the filter; Esc takes it back."}
		case m.tab == historyTab:
			return []string{"  Nothing has been asked yet."}
		}
		return []string{"  Nothing waits for an answer."}
	}
	return rows
}

// requestRow returns one request: cursor, mark, time left or its end, and as much of the call as
// fits.
func (m *model) requestRow(r *queue.Request, at, marked bool) string {
	f := m.briefFacts(r)
	state := TimeLeft(r, m.o.Now())
	switch {
	case m.sending[r.ID]:
		state = "sent"
	case r.Status != queue.Pending:
		state = string(r.Status)
		if m.tab == historyTab {
			state = r.Decided.Local().Format("01-02 15:04:05 ") + state
		}
	}
	s := "  "
	if at {
		s = "> "
	}
	if marked {
		s += "[x] "
	} else if len(m.pending.marks) > 0 {
		s += "[ ] "
	}
	s += state + "  "
	if f.NeedsCare() {
		s += "DANGEROUS  "
	}
	s = view.Cut(s+f.RequestLine(max(24, m.width-view.Width(s))), m.width)
	switch {
	case at:
		return dialog.RenderSelected(s + strings.Repeat(" ", m.width-view.Width(s)))
	case f.NeedsCare() && r.Status == queue.Pending:
		return dialog.RenderBold(s, true)
	}
	return s
}

func (m *model) grantRows(n int) []string {
	var rows []string
	top := max(0, m.grants.cursorIndex()-n+1)
	for i := top; i < min(len(m.grants.all), top+n); i++ {
		g := &m.grants.all[i]
		s := "  "
		if g.ID == m.grants.at {
			s = "> "
		}
		s = view.Cut(s+ShortID(g.ID)+"  "+GrantTitle(g), m.width)
		if g.ID == m.grants.at {
			s = dialog.RenderSelected(s)
		}
		rows = append(rows, s)
	}
	if len(rows) == 0 {
		return []string{"  No answer holds for a session."}
	}
	return rows
}
