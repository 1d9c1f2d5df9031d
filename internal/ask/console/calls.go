package console

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/clawai/clawai/internal/ask/dialog"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/text/term"
)

// Row is one row of a page of the overview: a call of the record, a session, a server. All its texts
// are harmless.
type Row struct {
	ID     string                          // id of the call's record; for another row, any unique name
	Line   func(width int) string          // the row, at most width cells wide
	Word   string                          // the word in Line that names the decision; "" for none
	Look   view.Look                       // colour of Word on the screen
	Search string                          // the text that the filter searches, in lower case
	Facts  func(width int) (rows []string) // all facts about the row; the first line is a summary

	Session string // session of the call; "" if the row is not a call
	Closed  string // if the row is a session: one sentence that says what the session may no longer do; "" for nothing
	// Explain returns the reasons for the decision on the call, and the result of each rule. It is
	// nil if Facts already contains both.
	Explain func(ctx context.Context) (why, rules []string, err error)
	// Open prepares the rules that would allow this call in the future; nil if no rule can allow
	// it.
	Open func(ctx context.Context) (*Opening, error)
}

// FollowCalls passes the latest calls of the record to the function send. Then it passes each new
// call to send, until ctx ends. If a call has changed, FollowCalls passes it to send again, with
// the same ID. It passes harmless sentences about the record to the function notice. The error
// tells why the record cannot be read.
type FollowCalls func(ctx context.Context, send func(Row), notice func(string)) error

// MaxCalls is how many calls the screen keeps.
const MaxCalls = 500

// redrawEvery is the shortest time between two drawings of new calls.
const redrawEvery = 100 * time.Millisecond

// Messages from followCalls to Update.
type (
	callsMsg  []Row
	recordMsg struct{ err error } // the console cannot follow the record any more
	noticeMsg string
)

// followCalls sends the calls of the record to Update in batches.
func (m *model) followCalls(ctx context.Context, send func(tea.Msg)) {
	calls, ended := make(chan Row), make(chan error, 1)
	go func() {
		ended <- m.o.Calls(ctx, func(c Row) {
			select {
			case calls <- c:
			case <-ctx.Done():
			}
		}, func(text string) { send(noticeMsg(text)) })
	}()
	var batch callsMsg
	draw := time.NewTicker(redrawEvery)
	defer draw.Stop()
	for {
		select {
		case c := <-calls:
			batch = append(batch, c)
			batch = batch[max(0, len(batch)-2*MaxCalls):]
		case <-draw.C:
			if len(batch) > 0 {
				send(batch)
				batch = nil
			}
		case err := <-ended:
			if ctx.Err() == nil {
				send(batch)
				send(recordMsg{err})
			}
			return
		}
	}
}

// rowList holds rows with a cursor. The cursor is on the first row until the person moves it.
type rowList struct {
	all    []Row
	at     string // id under the cursor; "" for the first row
	top    int    // first visible row
	filter string
	found  []Row // older calls of the record that match the filter, from a search; the newest first
	more   bool  // the search found more calls than the field found can hold
}

// addCalls adds new calls at the top, and replaces calls with the same ID. If the list is full, the
// oldest calls are removed, but the call under the cursor stays.
func (l *rowList) addCalls(batch []Row) {
	for _, c := range batch {
		if i := slices.IndexFunc(l.all, func(old Row) bool { return old.ID == c.ID }); i >= 0 {
			l.all[i] = c
			continue
		}
		l.all = slices.Insert(l.all, 0, c)
	}
	if len(l.all) <= MaxCalls {
		return
	}
	last := MaxCalls - 1
	if i := slices.IndexFunc(l.all, func(c Row) bool { return c.ID == l.at }); i > last {
		l.all[last] = l.all[i]
	}
	if wanted := strings.ToLower(l.filter); wanted != "" {
		for _, c := range slices.Backward(l.all[MaxCalls:]) {
			if strings.Contains(c.Search, wanted) {
				l.addFound(&c) // the search may have read this part of the record before the call was in it
			}
		}
	}
	clear(l.all[MaxCalls:])
	l.all = l.all[:MaxCalls]
}

// matchingRows returns the rows that match the filter: first the latest calls, then the calls that
// a search found in the record.
func (l *rowList) matchingRows() (rows []*Row) {
	wanted, here := strings.ToLower(l.filter), map[string]bool{}
	for i := range l.all {
		if len(l.found) > 0 {
			here[l.all[i].ID] = true
		}
		if strings.Contains(l.all[i].Search, wanted) {
			rows = append(rows, &l.all[i])
		}
	}
	for i := range l.found {
		if wanted != "" && !here[l.found[i].ID] {
			rows = append(rows, &l.found[i])
		}
	}
	return rows
}

// cursorIndex returns the index of the row with the given ID, or 0 if there is no such row.
func cursorIndex(rows []*Row, at string) int {
	return max(0, slices.IndexFunc(rows, func(c *Row) bool { return c.ID == at }))
}

// cursorRow returns the row under the cursor; nil if the list shows no row.
func (l *rowList) cursorRow() *Row {
	rows := l.matchingRows()
	if len(rows) == 0 {
		return nil
	}
	return rows[cursorIndex(rows, l.at)]
}

func (l *rowList) moveCursor(by int) {
	rows := l.matchingRows()
	if len(rows) == 0 {
		return
	}
	to := max(0, min(cursorIndex(rows, l.at)+by, len(rows)-1))
	if l.at = ""; to > 0 {
		l.at = rows[to].ID
	}
}

// windowRows returns the rows that are visible in a window of n rows, and the index of the cursor
// among them.
func (l *rowList) windowRows(n int) (rows []*Row, at int) {
	rows = l.matchingRows()
	at = cursorIndex(rows, l.at)
	l.top = max(0, min(l.top, at, len(rows)-n), at-n+1)
	return rows[l.top:min(l.top+n, len(rows))], at - l.top
}

// pageRows returns at most n visible rows of a page.
func (m *model) pageRows(p *page, n int) []string {
	rows, at := p.list.windowRows(n)
	switch {
	case len(p.list.all) == 0 && p.fault != "":
		return []string{view.Cut("  "+p.fault, m.width)}
	case len(p.list.all) == 0:
		return []string{view.Cut("  "+p.emptyText(), m.width)}
	case len(rows) == 0:
		further := ""
		if m.search != nil && m.page() == m.pages[0] {
			further = " " + capitalize(m.search.state) + "."
		}
		return view.Wrap([]string{"  Nothing matches the filter; Esc takes it back." + further}, m.width)
	}
	lines := make([]string, len(rows))
	for i := range rows {
		lines[i] = m.pageRow(rows[i], i == at)
	}
	return lines
}

func (m *model) pageRow(c *Row, at bool) string {
	mark := "  "
	if at {
		mark = "> "
	}
	s := view.Cut(mark+c.Line(m.width-len(mark)), m.width)
	if at {
		return dialog.RenderSelected(s + strings.Repeat(" ", max(0, m.width-view.Width(s))))
	}
	before, after, ok := strings.Cut(s, c.Word)
	if !ok || c.Word == "" {
		return s
	}
	return before + dialog.RenderLook(c.Word, c.Look) + after
}

// endRecord tells the person that the console cannot follow the record any more.
func (m *model) endRecord(err error) {
	why := "it ended"
	if err != nil {
		why = term.VisibleText(err.Error())
	}
	m.pages[0].fault = "The record cannot be read: " + why
	m.addNews("the record cannot be followed: %s", why)
}
