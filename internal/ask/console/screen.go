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

// minHeight is the smallest window in which keys answer.
const minHeight = 14

// sizes is how many rows each part of the screen has beside the question.
type sizes struct{ list, news int }

// above is how many rows stand above the question.
func (s sizes) above() int {
	if s.list == 0 {
		return 1
	}
	return s.list + 2
}

// layout shares the window out. What decides always fits.
func (m *model) layout() sizes {
	s := sizes{news: 1}
	if m.height >= 20 {
		s.news = 2
	}
	if m.height >= 30 {
		s.news = 4
	}
	if m.o.Only == "" {
		rest := m.height - 2 - s.news - m.question().Beside(m.width)
		s.list = max(1, min(m.count(), rest/3))
	}
	return s
}

func (m *model) count() int {
	if l := m.list(); l != nil {
		return len(l.shown())
	}
	return len(m.grants.all)
}

func (m *model) View() tea.View {
	v := tea.View{AltScreen: true}
	switch {
	case m.height == 0 || m.err != nil:
	case !m.fits:
		v.Content = strings.Join(dialog.Fill(view.Wrap([]string{
			"clawai: window too small.", fmt.Sprintf("A question needs %d columns and %d rows.", dialog.MinWidth, minHeight), "q leaves.",
		}, max(8, m.width)), m.height), "\n")
	default:
		v.Content = strings.Join(m.rows(), "\n")
	}
	return v
}

func (m *model) rows() []string {
	size := m.layout()
	rows := []string{dialog.Bold(view.Cut(m.header(), m.width), false)}
	if m.o.Only == "" {
		rows = append(rows, dialog.Fill(m.listRows(size.list), size.list)...)
		if _, r, g := m.subject(); r != nil || g != nil || m.ask != nil { // else the next line is a rule, too
			rows = append(rows, strings.Repeat("─", m.width))
		}
	}
	rows = append(rows, m.question().Rows()...)
	news := m.news[max(0, len(m.news)-size.news):]
	rows = dialog.Fill(rows, m.height-len(news))
	for _, line := range news {
		rows = append(rows, view.Cut(line, m.width))
	}
	return rows
}

// header names the tabs and how many there are.
func (m *model) header() string {
	if m.o.Only != "" {
		r := m.pending.current()
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
	names := []string{fmt.Sprintf("1 Waiting (%d)", waiting), "2 History", "3 Session answers"}
	names[m.tab] = "[" + names[m.tab] + "]"
	s := "clawai   " + strings.Join(names, "   ")
	if l := m.list(); l != nil && l.filter != "" {
		s += fmt.Sprintf("   %d of %d hold %s", len(l.shown()), len(l.all), term.Value(l.filter))
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
	l := m.list()
	if l == nil {
		return m.grantRows(n)
	}
	var rows []string
	for _, r := range l.window(n) {
		rows = append(rows, m.row(r, r.ID == l.at, l.marks[r.ID]))
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

// row is one request: cursor, mark, time left or what resolved it, and as much
// of the call as fits.
func (m *model) row(r *queue.Request, at, marked bool) string {
	f := m.brief(r)
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
	if f.Careful() {
		s += "DANGEROUS  "
	}
	s = view.Cut(s+f.Line(max(24, m.width-view.Width(s))), m.width)
	switch {
	case at:
		return dialog.Selected(s + strings.Repeat(" ", m.width-view.Width(s)))
	case f.Careful() && r.Status == queue.Pending:
		return dialog.Bold(s, true)
	}
	return s
}

func (m *model) grantRows(n int) []string {
	var rows []string
	top := max(0, m.grants.index()-n+1)
	for i := top; i < min(len(m.grants.all), top+n); i++ {
		g := &m.grants.all[i]
		s := "  "
		if g.ID == m.grants.at {
			s = "> "
		}
		s = view.Cut(s+Prefix(g.ID)+"  "+GrantTitle(g), m.width)
		if g.ID == m.grants.at {
			s = dialog.Selected(s)
		}
		rows = append(rows, s)
	}
	if len(rows) == 0 {
		return []string{"  No answer holds for a session."}
	}
	return rows
}
