package console

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/clawai/clawai/internal/ask/dialog"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/text/term"
)

// Page describes a page of the overview, such as the calls or the sessions. It holds no questions.
type Page struct {
	Name     string // name in the list of pages
	Decision string // a sentence about the rows, always visible
	Empty    string // text in place of the rows if there are none
	// Load returns the rows. The console calls it when the page appears, and again while the page
	// is visible.
	Load func(ctx context.Context) ([]Row, error)
	// Early means that the page is loaded before it is visible, because the summary on the first
	// page uses its rows.
	Early bool
}

// reloadEvery is the time between two loads of a visible page.
const reloadEvery = 3 * time.Second

// page is a Page with its rows and its state.
type page struct {
	Page
	list    rowList
	fault   string // why the rows could not be loaded; "" if they were loaded or not yet requested
	loaded  time.Time
	loading bool
	known   bool // the rows have been loaded at least once
}

func (p *page) emptyText() string {
	if p.Load != nil && !p.known {
		return "One moment…"
	}
	return p.Empty
}

// pageMsg holds the loaded rows of the page with this index.
type pageMsg struct {
	index int
	rows  []Row
	err   error
	fault string // why the policy does not load; "" if it does
}

// page returns the visible page of the overview; nil if the screen shows requests or session
// answers.
func (m *model) page() *page { return m.pageAt(m.tab) }

func (m *model) pageAt(t tab) *page {
	if i := int(t) - int(callsTab); i >= 0 && i < len(m.pages) {
		return m.pages[i]
	}
	return nil
}

// loadPages loads the visible page, and the pages that the summary needs, if their rows are older
// than reloadEvery.
func (m *model) loadPages() {
	for i, p := range m.pages {
		shown := p == m.page() || p.Early && (m.showsSummary() || !p.known)
		if p.Load == nil || p.loading || !shown || p.known && m.o.Now().Sub(p.loaded) < reloadEvery {
			continue
		}
		p.loading = true
		load := p.Load
		m.runJob(func(ctx context.Context) tea.Msg {
			rows, err := load(ctx)
			msg := pageMsg{i, rows, err, ""}
			if m.o.Fault != nil {
				msg.fault = m.o.Fault()
			}
			return msg
		})
	}
}

func (m *model) applyPage(msg pageMsg) {
	p := m.pages[msg.index]
	p.loading, p.known, p.loaded = false, true, m.o.Now()
	m.fault = msg.fault
	if p.fault = ""; msg.err != nil {
		p.fault = "It cannot be read: " + term.VisibleText(msg.err.Error())
		return
	}
	p.list.all = msg.rows
	if p == m.page() {
		m.redrawDetail()
	}
}

// wideLine is a width that is large enough for the whole line of every call.
const wideLine = 200

// joinColumns returns the line of a call without its id and with single blanks between its columns.
func joinColumns(c *Row) string {
	line := strings.TrimSuffix(strings.TrimSpace(c.Line(wideLine)), c.ID)
	for strings.Contains(line, "   ") {
		line = strings.ReplaceAll(line, "   ", "  ")
	}
	return strings.TrimSpace(line)
}

// summaryCells is the width of the labels in the summary.
const summaryCells = len("Refused last  ")

// summaryHeight is the smallest height of a window that has room for a question and the summary.
const summaryHeight = 24

// showsSummary reports whether the summary is visible. The summary stands above the calls and,
// in an overview, above the questions.
func (m *model) showsSummary() bool {
	return m.ask == nil && (m.tab == callsTab || m.tab == pendingTab && m.o.CallsFirst && m.pageAt(callsTab) != nil && m.height >= summaryHeight)
}

// summaryRows returns the summary: the waiting questions, the last refusal, and what a session may
// no longer do. Above the list of questions it leaves out the waiting questions, because the list
// shows them.
func (m *model) summaryRows() []string {
	row := func(label, text string, look view.Look) string {
		s := view.Cut(label+text, m.width)
		return dialog.RenderBold(s[:min(len(s), len(label))], false) + dialog.RenderLook(s[min(len(s), len(label)):], look)
	}
	waits, look := "nothing", view.Plain
	if n, first := m.countWaiting(); n > 0 {
		before := "press 1: "
		if n > 1 {
			before = fmt.Sprintf("%d questions, press 1; first ", n)
		}
		left := fmt.Sprintf(" (%s left)", strings.TrimSpace(TimeLeft(first, m.o.Now())))
		waits, look = before+m.briefFacts(first).Headline(max(m.width-summaryCells-view.Width(before+left), 20))+left, view.Asked
	}
	rows := []string{row("Waits now     ", waits, look)}
	refused, look := "nothing of the last calls", view.Plain
	for i := range m.pages[0].list.all {
		if c := &m.pages[0].list.all[i]; c.Look == view.Refused {
			refused, look = joinColumns(c), view.Refused
			break
		}
	}
	rows = append(rows, row("Refused last  ", refused, look))
	if sessions := m.pageAt(sessionsTab); sessions != nil {
		closed, look := "nothing: no session has seen what would close anything", view.Plain
		if m.fault != "" {
			closed = "not known: the policy does not load"
		}
		for i := range sessions.list.all {
			if c := &sessions.list.all[i]; c.Closed != "" && m.fault == "" {
				closed, look = c.Closed, view.Asked
				break
			}
		}
		rows = append(rows, row("Now forbidden ", closed, look))
	}
	if m.fault != "" && m.tab == callsTab {
		for i, line := range view.Wrap([]string{m.fault}, m.width-summaryCells) {
			label := ""
			if i == 0 {
				label = "Policy fault  "
			}
			rows = append(rows, row(cmp.Or(label, strings.Repeat(" ", summaryCells)), strings.TrimSpace(line), view.Refused))
		}
	}
	if m.tab == pendingTab {
		return rows[1:]
	}
	return append(rows, "")
}
