package console

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/clawai/clawai/internal/approve/queue"
)

// press handles one key.
func (m *model) press(k tea.KeyPressMsg) {
	key := k.String()
	switch {
	case key == "ctrl+c":
		m.err, m.over = ErrInterrupted, true
	case m.tooSmall():
		m.over = key == "q"
	case m.edit != nil:
		if m.edit.press(k) {
			m.edit, m.of = nil, ""
			m.wait()
		}
	case m.scrolled(key):
	case m.ask != nil:
		m.pressAsk(key)
	case m.navigate(key):
	case m.early():
		m.wait()
	case m.tab == pendingTab:
		m.pressRequest(key)
	case m.tab == grantsTab:
		m.pressGrant(key)
	}
}

// scrolled moves the details.
func (m *model) scrolled(key string) bool {
	n := max(1, m.layout().detail-1)
	switch key {
	case "pgdown", "ctrl+f":
		m.detail.scroll(n, n+1)
	case "pgup", "ctrl+b":
		m.detail.scroll(-n, n+1)
	case "home":
		m.detail.scroll(-len(m.detail.rows), n+1)
	case "end":
		m.detail.scroll(len(m.detail.rows), n+1)
	default:
		return false
	}
	return true
}

// navigate handles the keys that answer nothing, and says whether it was one.
func (m *model) navigate(key string) bool {
	one := m.o.Only != ""
	switch key {
	case "q":
		m.over = true
	case "up", "k":
		m.move(-1)
	case "down", "j":
		m.move(1)
	case "w":
		m.whole, m.of = !m.whole, ""
	case "esc":
		m.over = one
		m.clear()
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

// move puts the cursor on another row, or scrolls where there is no list.
func (m *model) move(by int) {
	switch l := m.list(); {
	case m.o.Only != "":
		m.detail.scroll(by, m.layout().detail)
	case l == nil:
		m.grants.move(by)
		m.wait()
	case l.move(by):
		m.wait()
	}
}

func (m *model) show(t tab) {
	if m.o.Only != "" {
		return
	}
	m.tab, m.of = t, ""
	m.load()
	m.wait()
}

func (m *model) startFilter() {
	l := m.list()
	if l == nil || m.o.Only != "" {
		return
	}
	m.edit = &editor{label: "filter:", text: []rune(l.filter), done: func(s string) {
		l.filter = strings.TrimSpace(s)
		l.land()
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
		l.land()
		m.wait()
	}
}

// pressRequest handles a key that may be an answer to the request under the
// cursor.
func (m *model) pressRequest(key string) {
	r := m.pending.current()
	if r == nil {
		return
	}
	if !slices.Contains([]string{"a", "s", "A", "d", "D", "n", "space"}, key) {
		m.wait() // meant for another program, and so may be what follows
		return
	}
	if r.Status != queue.Pending {
		m.tell("%s: %s", m.brief(r), TooLate(*r))
		return
	}
	switch {
	case m.sending[r.ID]:
	case key == "space":
		if m.o.Only == "" && !m.o.Once {
			m.pending.toggle(r.ID)
		}
	case len(m.pending.marks) > 0:
		m.answerMarked(key)
	default:
		m.answerOne(r, key)
	}
}
