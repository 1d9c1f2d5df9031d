package console

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/clawai/clawai/internal/ask/dialog"
	"github.com/clawai/clawai/internal/ask/queue"
)

// pressKey handles one key.
func (m *model) pressKey(k tea.KeyPressMsg) {
	key := k.String()
	switch {
	case key == "ctrl+c":
		m.err, m.over = ErrInterrupted, true
	case !m.fits:
		m.over = key == "q"
	case m.edit != nil:
		if m.edit.pressKey(k) {
			m.edit = nil
			m.redrawDetail()
			m.startGrace()
		}
	case m.ask != nil:
		m.pressAsk(key)
	case m.shown.PressScrollKey(key), m.navigate(key):
	case m.tab == grantsTab:
		m.pressGrant(key)
	case m.page() != nil:
		m.pressRow(key)
	default:
		m.pressRequest(key)
	}
}

// navigate handles the keys that are not an answer. It reports whether key is one of them.
func (m *model) navigate(key string) bool {
	one := m.o.Only != ""
	switch key {
	case "q":
		m.over = true
	case "?":
		m.startHelp()
	case "w":
		m.whole = !m.whole
		m.redrawDetail()
	case "esc":
		m.over = one
		m.clearMarksOrFilter()
	default:
		return !one && m.pressTab(key)
	}
	return true
}

// pressTab handles the keys that choose a page or a row. It reports whether key is one of them.
func (m *model) pressTab(key string) bool {
	switch key {
	case "up", "k":
		m.moveCursor(-1)
	case "down", "j":
		m.moveCursor(1)
	case "1", "2", "3", "4", "5", "6":
		if t := tab(key[0] - '1'); int(t) < len(m.tabNames(0)) {
			m.showTab(t)
		}
	case "tab":
		m.showTab(tab((int(m.tab) + 1) % len(m.tabNames(0))))
	case "/":
		m.startFilter()
	default:
		return false
	}
	return true
}

// moveCursor moves the cursor of the current page by a number of rows.
func (m *model) moveCursor(by int) {
	if l, p := m.tabList(), m.page(); p != nil {
		p.list.moveCursor(by)
	} else if l == nil {
		m.grants.moveCursor(by)
		m.startGrace()
	} else if l.moveCursor(by) {
		m.startGrace()
	}
}

func (m *model) showTab(t tab) {
	m.tab, m.shownName = t, ""
	m.loadQueue()
	if p := m.page(); p != nil {
		p.loaded = time.Time{} // the rows may be old, because a page with Page.Early is loaded before it is visible
	}
	m.loadPages()
	m.startGrace()
}

func (m *model) startFilter() {
	filter := m.tabFilter()
	if filter == nil {
		return
	}
	l := m.tabList()
	m.edit = &editor{label: "filter:", text: []rune(*filter), done: func(s string) {
		if *filter = strings.TrimSpace(s); l != nil {
			l.ensureCursor()
		} else if m.page() == m.pageAt(callsTab) {
			m.searchRecord()
		}
	}}
}

// clearMarksOrFilter clears the marks or, if there are none, the filter.
func (m *model) clearMarksOrFilter() {
	l := m.tabList()
	switch {
	case m.page() != nil:
		m.page().list.filter = ""
		m.searchRecord()
	case l == nil:
	case len(l.marks) > 0:
		l.marks = nil
	case l.filter != "":
		l.filter = ""
		l.ensureCursor()
		m.startGrace()
	}
}

// pressRequest handles a key on a page of requests. Some of the keys answer the request under the
// cursor.
func (m *model) pressRequest(key string) {
	r := m.pending.cursorRequest()
	if m.tab == pendingTab && r != nil && r.Status != queue.Pending && strings.Contains("asAdDn", key) && !m.grace.IsEarly() {
		m.addNews("%s: %s", m.requestTitle(r), TooLateText(*r))
		return
	}
	did, c := m.shown.PressKey(key)
	switch {
	case did == dialog.Moved:
	case did == dialog.Closed:
		m.addNews("%s", c.Closed)
	case did != dialog.Chosen:
		m.startGrace()
	case m.sending[r.ID]:
	case c.Word == "mark":
		m.pending.toggleMark(r.ID)
	case len(m.pending.marks) > 0:
		m.answerMarked(dialog.ReplyForWord(c.Word))
	default:
		m.answerRequest(r, c.Word)
	}
}
