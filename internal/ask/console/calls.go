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

// Look is the colour of a decision.
type Look = dialog.Look

// The looks of calls.
const (
	Allowed = dialog.LookAllowed
	Asked   = dialog.LookAsked
	Refused = dialog.LookRefused
)

// Call is one call of the record. All its texts are harmless.
type Call struct {
	ID     string                          // of its record
	Line   func(width int) string          // one row
	Word   string                          // the decision as Line has it
	Look   Look                            // of Word
	Search string                          // the text that the filter searches, in lower case
	Facts  func(width int) (rows []string) // everything about the call
}

// FollowCalls calls send with the latest calls of the record and then with each new one, until ctx
// ends. A call that is sent again, with the same ID, has changed. The error says why the record
// cannot be read.
type FollowCalls func(ctx context.Context, send func(Call)) error

// maxCalls is how many calls the screen keeps.
const maxCalls = 500

// redrawEvery is the shortest time between two drawings of new calls.
const redrawEvery = 100 * time.Millisecond

// Messages of followCalls.
type (
	callsMsg  []Call
	recordMsg struct{ err error } // the record cannot be followed any more
)

// followCalls sends the calls of the record in batches.
func (m *model) followCalls(ctx context.Context, send func(tea.Msg)) {
	calls, ended := make(chan Call), make(chan error, 1)
	go func() {
		ended <- m.o.Calls(ctx, func(c Call) {
			select {
			case calls <- c:
			case <-ctx.Done():
			}
		})
	}()
	var batch callsMsg
	draw := time.NewTicker(redrawEvery)
	defer draw.Stop()
	for {
		select {
		case c := <-calls:
			batch = append(batch, c)
			batch = batch[max(0, len(batch)-2*maxCalls):]
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

// callList holds the latest calls, the newest first, with a cursor. Until the person moves it, the
// cursor is on the newest call.
type callList struct {
	all    []Call
	at     string // id under the cursor; "" for the newest
	top    int    // first visible row
	filter string
}

// addCalls adds calls that came later than all others, or replaces those that are there.
func (l *callList) addCalls(batch []Call) {
	for _, c := range batch {
		if i := slices.IndexFunc(l.all, func(old Call) bool { return old.ID == c.ID }); i >= 0 {
			l.all[i] = c
			continue
		}
		l.all = slices.Insert(l.all, 0, c)
	}
	l.all = l.all[:min(len(l.all), maxCalls)]
}

func (l *callList) matchingCalls() (rows []*Call) {
	wanted := strings.ToLower(l.filter)
	for i := range l.all {
		if strings.Contains(l.all[i].Search, wanted) {
			rows = append(rows, &l.all[i])
		}
	}
	return rows
}

// cursorIndex returns the row of the cursor, 0 for the newest.
func cursorIndex(rows []*Call, at string) int {
	return max(0, slices.IndexFunc(rows, func(c *Call) bool { return c.ID == at }))
}

// cursorCall returns the call under the cursor. It returns nil if the list shows no call.
func (l *callList) cursorCall() *Call {
	rows := l.matchingCalls()
	if len(rows) == 0 {
		return nil
	}
	return rows[cursorIndex(rows, l.at)]
}

func (l *callList) moveCursor(by int) {
	rows := l.matchingCalls()
	if len(rows) == 0 {
		return
	}
	to := max(0, min(cursorIndex(rows, l.at)+by, len(rows)-1))
	if l.at = ""; to > 0 {
		l.at = rows[to].ID
	}
}

// callRows returns the visible rows of the tab of calls.
func (m *model) callRows(n int) []string {
	l := &m.calls
	rows := l.matchingCalls()
	switch {
	case len(l.all) == 0 && m.recordError != "":
		return []string{view.Cut("  The record cannot be read: "+m.recordError, m.width)}
	case len(l.all) == 0:
		return []string{"  No call is in the record yet."}
	case len(rows) == 0:
		return []string{"  Nothing matches the filter; Esc takes it back."}
	}
	at := cursorIndex(rows, l.at)
	l.top = max(0, min(l.top, at, len(rows)-n), at-n+1)
	var lines []string
	for i := l.top; i < min(l.top+n, len(rows)); i++ {
		lines = append(lines, m.callRow(rows[i], i == at))
	}
	return lines
}

func (m *model) callRow(c *Call, at bool) string {
	mark := "  "
	if at {
		mark = "> "
	}
	s := view.Cut(mark+c.Line(m.width-len(mark)), m.width)
	if at {
		return dialog.RenderSelected(s + strings.Repeat(" ", max(0, m.width-view.Width(s))))
	}
	before, after, ok := strings.Cut(s, c.Word)
	if !ok {
		return s
	}
	return before + dialog.RenderLook(c.Word, c.Look) + after
}

// endRecord notes that the record cannot be followed any more.
func (m *model) endRecord(err error) {
	m.recordError = "it ended"
	if err != nil {
		m.recordError = term.VisibleText(err.Error())
	}
	m.addNews("the record cannot be followed: %s", m.recordError)
}
