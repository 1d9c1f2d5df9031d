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

// minHeight is the smallest height of a window in which a key can be an answer.
const minHeight = 14

// sizes holds the number of rows of each part of the screen except the question.
type sizes struct{ summary, list, news int }

// rowsAbove returns the number of rows above the question.
func (s sizes) rowsAbove() int {
	if s.list == 0 {
		return 1
	}
	return s.summary + s.list + 2
}

// layoutWindow divides the window's rows among its parts. The decision and the choices always have
// room.
func (m *model) layoutWindow() sizes {
	s := sizes{news: 1}
	if m.height >= 20 {
		s.news = 2
	}
	if m.height >= 30 {
		s.news = 4
	}
	if last := m.news[max(0, len(m.news)-2):]; m.height >= 20 { // leave room for the whole last line, because its end tells the person what to do next
		s.news = max(s.news, min(len(view.Wrap(last, m.width)), s.news+2))
	}
	if m.o.Only == "" {
		rest := m.height - 2 - s.news - m.activeQuestion().FixedRows(m.width)
		share := 3 // the details of a question get two thirds of the rows
		if m.page() != nil {
			share = 2
		}
		if m.page() != nil && m.ask != nil {
			share = rest // the open question gets the rows of the list
		}
		if m.showsSummary() {
			s.summary = len(m.summaryRows())
			rest -= s.summary
		}
		s.list = max(1, min(m.countRows(), rest/share))
	}
	return s
}

func (m *model) countRows() int {
	if l := m.tabList(); l != nil {
		return len(l.matchingRequests())
	}
	if p := m.page(); p != nil {
		return len(p.list.matchingRows())
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
		if size.summary > 0 {
			rows = append(rows, m.summaryRows()...)
		}
		rows = append(rows, dialog.FillRows(m.listRows(size.list), size.list)...)
		if _, s := m.cursorSubject(); s != (subject{}) || m.ask != nil { // without details the next row is already a ruler
			rows = append(rows, strings.Repeat("─", m.width))
		}
	}
	rows = append(rows, m.activeQuestion().Rows()...)
	news := m.newsRows(size.news)
	return append(dialog.FillRows(rows, m.height-len(news)), news...)
}

// newsRows returns the last lines of news in at most n rows. A line that does not fit is cut.
func (m *model) newsRows(n int) (rows []string) {
	for i := len(m.news) - 1; i >= 0 && len(rows) < n; i-- {
		line := view.Wrap(m.news[i:i+1], m.width)
		if room := n - len(rows); len(line) > room { // the line does not fit: mark its last visible row
			line = append(line[:room-1:room-1], view.Cut(line[room-1]+strings.TrimPrefix(line[room], view.Continued), m.width))
		}
		rows = append(line, rows...)
	}
	return rows
}

// headerLine returns the names of the pages with the number of their rows.
func (m *model) headerLine() string {
	if m.o.Only != "" {
		r := m.pending.cursorRequest()
		if r == nil {
			return "clawai"
		}
		return "clawai   one request" + m.countdown(r)
	}
	waiting, _ := m.countWaiting()
	names, gap := m.tabNames(waiting), "   "
	filter := m.tabFilter()
	if filter == nil || *filter == "" {
		if m.width < roomyHeader {
			gap = "  "
		}
	} else {
		for i, name := range names {
			if tab(i) != m.tab && i > 0 { // leave out the other names to make room for the filter
				names[i], _, _ = strings.Cut(name, " ")
			}
		}
		all := 0
		if p := m.page(); p != nil {
			all = len(p.list.all)
		} else if l := m.tabList(); l != nil {
			all = len(l.all)
		}
		count := fmt.Sprintf("%d of %d hold %s", m.countRows(), all, term.VisibleValue(*filter))
		if s := m.search; s != nil && m.tab == callsTab {
			count = fmt.Sprintf("%d hold %s; %s", m.countRows(), term.VisibleValue(*filter), s.state)
			if m.pages[0].list.more {
				count = "the latest " + count
			}
		}
		names = append(names, count)
		gap = "  "
	}
	names[m.tab] = "[" + names[m.tab] + "]"
	return "clawai" + gap + strings.Join(names, gap)
}

// roomyHeader is the smallest width at which all names of pages fit with space between them.
const roomyHeader = 100

// countWaiting returns the number of waiting requests, and the first of them.
func (m *model) countWaiting() (n int, first *queue.Request) {
	for i := range m.pending.all {
		if r := &m.pending.all[i]; r.Status == queue.Pending {
			if n++; first == nil {
				first = r
			}
		}
	}
	return n, first
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
	case m.page() != nil:
		return m.pageRows(m.page(), n)
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

// requestRow returns the row of one request: cursor, mark, remaining time or result, and as much of
// the call as fits.
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
