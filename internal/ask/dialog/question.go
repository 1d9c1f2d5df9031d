package dialog

import (
	"time"

	"github.com/clawai/clawai/internal/ask/view"
)

// The smallest window for a question. In a smaller one, the choices or all facts would be hidden.
const (
	MinWidth = 40
	minFacts = 2
)

// Grace is how long newly visible content takes no answer.
type Grace struct {
	For   time.Duration
	Now   func() time.Time
	until time.Time
}

// BeginWait makes the person wait before a key counts as an answer.
func (g *Grace) BeginWait() { g.until = g.Now().Add(g.For) }

// IsEarly reports whether the content has not been visible long enough.
func (g *Grace) IsEarly() bool { return g.Now().Before(g.until) }

// Question is a page on a full screen, with its visible part and the selected choice.
type Question struct {
	Page
	Menu    bool      // arrows and Return choose
	Letters bool      // the choices' keys choose
	Grace   *Grace    // shared by the whole screen
	Under   *Question // its facts are shown when the page has none

	at     int // index of the selected choice among those offered
	rows   []string
	need   int // how many rows must have been visible before allowing
	top    int // first visible row
	room   int // number of rows for facts
	width  int // width that rows are wrapped to; 0: rebuild them
	sight  view.Sight
	unread bool // the last key would have allowed before all required rows had been visible
}

// Action is the effect of a key.
type Action uint8

// Effects of keys. After Stray, Early and Unread the person must wait again.
const (
	Stray  Action = iota // no meaning here; the preset is selected again
	Early                // before the question could be read
	Moved                // scrolled or selected another choice
	Unread               // would allow something; it scrolls on instead
	Closed               // an unavailable choice
	Chosen               // a choice
)

// visibleQuestion returns the question whose facts are visible.
func (q *Question) visibleQuestion() *Question {
	if q.Facts == nil && q.Under != nil {
		return q.Under
	}
	return q
}

// ResetRows makes the facts be rebuilt, because they may have changed.
func (q *Question) ResetRows() { q.width = 0 }

// ScrollTop scrolls to the first row.
func (q *Question) ScrollTop() { q.top = 0 }

// FitWindow gives the question a part of a screen, and reports whether it is large enough.
func (q *Question) FitWindow(width, height int) bool {
	b := q.visibleQuestion()
	b.room = height - q.FixedRows(width)
	if width < MinWidth || b.room < minFacts {
		return false
	}
	if b.width != width {
		b.rows, b.need = nil, 0
		if b.width = width; b.Facts != nil {
			b.rows, b.need = b.Facts(width)
		}
	}
	b.scrollRows(0)
	return true
}

func (q *Question) scrollRows(by int) {
	q.top = max(0, min(q.top+by, len(q.rows)-q.room))
	q.sight.NoteVisible(q.top+q.room, q.need)
}

// PressScrollKey handles a key that scrolls the facts, and reports whether key was one.
func (q *Question) PressScrollKey(key string) bool {
	b := q.visibleQuestion()
	by := 0
	switch key {
	case "pgdown", "ctrl+f":
		by = b.room
	case "pgup", "ctrl+b":
		by = -b.room
	case "home":
		by = -len(b.rows)
	case "end":
		by = len(b.rows)
	default:
		return false
	}
	b.unread = false
	b.scrollRows(by)
	return true
}

// PressKey handles one key. It returns the choice for Closed and Chosen.
func (q *Question) PressKey(key string) (Action, *Choice) {
	switch {
	case q.PressScrollKey(key):
		return Moved, nil
	case q.Grace.IsEarly():
		q.Grace.BeginWait()
		return Early, nil
	}
	q.visibleQuestion().unread = false
	if q.Menu {
		all := offeredChoices(q.Choices)
		if q.at >= len(all) {
			q.at = 0
		}
		switch key {
		case "up":
			q.at = (q.at + len(all) - 1) % len(all)
			return Moved, nil
		case "down":
			q.at = (q.at + 1) % len(all)
			return Moved, nil
		case "enter":
			return q.chooseAnswer(&all[q.at])
		}
	}
	if q.Letters {
		if c := q.findChoice(func(c *Choice) bool { return c.Key == key }); c != nil {
			return q.chooseAnswer(c)
		}
	}
	return q.RejectInput(), nil
}

// RejectInput handles input for another program: the next input may be for it too.
func (q *Question) RejectInput() Action {
	q.at = 0
	q.Grace.BeginWait()
	return Stray
}

func (q *Question) chooseAnswer(c *Choice) (Action, *Choice) {
	switch b := q.visibleQuestion(); {
	case c.Closed != "":
		return Closed, c
	case c.Lets && !b.sight.SawEnd():
		b.scrollRows(b.room)
		b.unread = true
		q.Grace.BeginWait()
		return Unread, nil
	}
	return Chosen, c
}
