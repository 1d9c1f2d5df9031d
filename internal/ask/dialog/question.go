package dialog

import (
	"time"

	"github.com/clawai/clawai/internal/ask/view"
)

// The smallest window a question is asked in. Below it, the choices or every
// fact would be out of sight.
const (
	MinWidth = 40
	minFacts = 2
)

// Grace is how long what has just come into sight takes no answer.
type Grace struct {
	For   time.Duration
	Now   func() time.Time
	until time.Time
}

// BeginWait makes the person wait before a key is an answer.
func (g *Grace) BeginWait() { g.until = g.Now().Add(g.For) }

// IsEarly says that what is in sight has not been there long enough.
func (g *Grace) IsEarly() bool { return g.Now().Before(g.until) }

// Question is a page on a full screen: what of it is in sight, and which choice
// is pointed at.
type Question struct {
	Page
	Menu    bool      // arrows and Return choose
	Letters bool      // the keys of the choices choose
	Grace   *Grace    // of the whole screen
	Under   *Question // whose facts are shown when the page has none

	at     int // the choice pointed at, of those that are offered
	rows   []string
	need   int // how many rows must have been in sight to let something through
	top    int // first row in sight
	room   int // how many rows of facts there is room for
	width  int // that rows are wrapped to; 0: to be made anew
	sight  view.Sight
	unread bool // the last key would have let something through too early
}

// Action is what a key did.
type Action uint8

// What keys do. After Stray, Early and Unread the person has to wait again.
const (
	Stray  Action = iota // it has no meaning here; the preset is pointed at again
	Early                // it came before the question could be read
	Moved                // other rows or another choice
	Unread               // it would let something through, and reads on instead
	Closed               // it is a choice that is not offered
	Chosen               // it is the choice
)

// visibleQuestion gives the question whose facts are in sight.
func (q *Question) visibleQuestion() *Question {
	if q.Facts == nil && q.Under != nil {
		return q.Under
	}
	return q
}

// ResetRows has the facts made anew, as they may have changed.
func (q *Question) ResetRows() { q.width = 0 }

// ScrollTop scrolls to the first row.
func (q *Question) ScrollTop() { q.top = 0 }

// FitWindow gives the question a part of a screen, and says whether that is enough.
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

// PressScrollKey handles a key that moves the facts, and says whether it was one.
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

// PressKey handles one key. The choice is that of Closed and Chosen.
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

// RejectInput gives input that was meant for another program: what follows it may be so
// too.
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
