package console

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/clawai/clawai/internal/approve/queue"
	"github.com/clawai/clawai/internal/term"
)

// The smallest window in which keys answer.
const (
	minWidth  = 40
	minHeight = 14
)

// sizes is how many rows each part of the screen has.
type sizes struct{ list, detail, news int }

// layout shares the window out. What decides (title and keys) always fits.
func (m *model) layout() sizes {
	rest := m.height - 4 - len(m.titleRows()) - len(m.keyRows()) // header, two rulers, the line of what is out of sight
	s := sizes{news: 1}
	if m.height >= 20 {
		s.news = 2
	}
	if m.height >= 30 {
		s.news = 4
	}
	rest -= s.news
	if m.o.Only != "" {
		s.detail = rest
		return s
	}
	s.list = max(1, min(m.count(), rest/3))
	s.detail = rest - s.list
	return s
}

func (m *model) count() int {
	if l := m.list(); l != nil {
		return len(l.shown())
	}
	return len(m.grants.all)
}

func (m *model) tooSmall() bool {
	return m.width < minWidth || m.height < minHeight || m.layout().detail < 2
}

func (m *model) View() tea.View {
	v := tea.View{AltScreen: true}
	switch {
	case m.height == 0 || m.err != nil:
	case m.tooSmall():
		v.Content = strings.Join(fill(wrap([]string{
			"clawai: window too small.", fmt.Sprintf("A question needs %d columns and %d rows.", minWidth, minHeight), "q leaves.",
		}, max(8, m.width)), m.height), "\n")
	default:
		v.Content = strings.Join(m.rows(), "\n")
	}
	return v
}

func (m *model) rows() []string {
	size := m.layout()
	rows := []string{bold(clip(m.header(), m.width))}
	if m.o.Only == "" {
		rows = append(rows, fill(m.listRows(size.list), size.list)...)
	}
	rows = append(rows, strings.Repeat("─", m.width))
	rows = append(rows, m.detailRows(size.detail)...)
	rows = append(rows, strings.Repeat("─", m.width))
	for _, row := range m.titleRows() {
		rows = append(rows, m.alarm(row, m.inDanger()))
	}
	rows = append(rows, m.keyRows()...)
	news := m.news[max(0, len(m.news)-size.news):]
	for _, line := range news {
		rows = append(rows, clip(line, m.width))
	}
	return fill(rows, m.height)
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
	return ", " + strings.TrimSpace(Left(r, m.o.Now())) + " left"
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
			return []string{"  Nothing matches the filter; esc takes it back."}
		case m.tab == historyTab:
			return []string{"  Nothing has been asked yet."}
		}
		return []string{"  Nothing waits for an answer."}
	}
	return rows
}

// row is one request: cursor, mark, time left or what settled it, and as much
// of the call as fits.
func (m *model) row(r *queue.Request, at, marked bool) string {
	f := m.facts(r)
	state := Left(r, m.o.Now())
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
	s = clip(s+strings.TrimPrefix(f.Short(max(1, m.width-cellsOf(s))), "careful: "), m.width)
	return m.alarm(s, f.Careful() && r.Status == queue.Pending)
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
		rows = append(rows, clip(s+Prefix(g.ID)+"  "+GrantTitle(g), m.width))
	}
	if len(rows) == 0 {
		return []string{"  No answer holds for a session."}
	}
	return rows
}

// inDanger says that the request in sight needs care.
func (m *model) inDanger() bool {
	r := m.pending.current()
	return m.tab == pendingTab && r != nil && r.Status == queue.Pending && m.entire(r).Careful()
}

// alarm is bold and red when on; the word DANGEROUS says it too.
func (m *model) alarm(s string, on bool) string {
	style := lipgloss.NewStyle().Bold(on)
	if on && m.o.Color {
		style = style.Foreground(lipgloss.Color("1"))
	}
	if !on {
		return s
	}
	return style.Render(s)
}

func bold(s string) string { return lipgloss.NewStyle().Bold(true).Render(s) }
