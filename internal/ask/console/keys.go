package console

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/clawai/clawai/internal/ask/dialog"
	"github.com/clawai/clawai/internal/ask/queue"
)

// press handles one key.
func (m *model) press(k tea.KeyPressMsg) {
	key := k.String()
	switch {
	case key == "ctrl+c":
		m.err, m.over = ErrInterrupted, true
	case !m.fits:
		m.over = key == "q"
	case m.edit != nil:
		if m.edit.press(k) {
			m.edit = nil
			m.redraw()
			m.wait()
		}
	case m.ask != nil:
		m.pressAsk(key)
	case m.shown.Scroll(key), m.navigate(key):
	case m.tab == grantsTab:
		m.pressGrant(key)
	default:
		m.pressRequest(key)
	}
}

// navigate handles the keys that answer nothing, and says whether it was one.
func (m *model) navigate(key string) bool {
	one := m.o.Only != ""
	switch key {
	case "q":
		m.over = true
	case "?":
		m.startHelp()
	case "w":
		m.whole = !m.whole
		m.redraw()
	case "esc":
		m.over = one
		m.clear()
	default:
		return !one && m.pressTab(key)
	}
	return true
}

// pressTab handles the keys that choose what is in sight, where that is not one
// request alone.
func (m *model) pressTab(key string) bool {
	switch key {
	case "up", "k":
		m.move(-1)
	case "down", "j":
		m.move(1)
	case "1", "2", "3":
		m.show(tab(key[0] - '1'))
	case "tab":
		m.show((m.tab + 1) % 3)
	case "/":
		m.startFilter()
	default:
		return false
	}
	return true
}

// move puts the cursor on another row.
func (m *model) move(by int) {
	if l := m.list(); l == nil {
		m.grants.move(by)
		m.wait()
	} else if l.move(by) {
		m.wait()
	}
}

func (m *model) show(t tab) {
	m.tab, m.of = t, ""
	m.load()
	m.wait()
}

func (m *model) startFilter() {
	l := m.list()
	if l == nil {
		return
	}
	m.edit = &editor{label: "filter:", text: []rune(l.filter), done: func(s string) {
		l.filter = strings.TrimSpace(s)
		l.ensureCursor()
	}}
}

// clear takes the marks back, then the filter.
func (m *model) clear() {
	l := m.list()
	switch {
	case l == nil:
	case len(l.marks) > 0:
		l.marks = nil
	case l.filter != "":
		l.filter = ""
		l.ensureCursor()
		m.wait()
	}
}

// pressRequest handles a key that may be an answer to the request under the
// cursor.
func (m *model) pressRequest(key string) {
	r := m.pending.current()
	if m.tab == pendingTab && r != nil && r.Status != queue.Pending && strings.Contains("asAdDn", key) && !m.grace.Early() {
		m.addNews("%s: %s", m.title(r), TooLateText(*r))
		return
	}
	did, c := m.shown.Press(key)
	switch {
	case did == dialog.Moved:
	case did == dialog.Closed:
		m.addNews("%s", c.Closed)
	case did != dialog.Chosen:
		m.wait()
	case m.sending[r.ID]:
	case c.Word == "mark":
		m.pending.toggle(r.ID)
	case len(m.pending.marks) > 0:
		m.answerMarked(dialog.Reply(c.Word))
	default:
		m.answer(r, c.Word)
	}
}
