package dialog

import (
	"time"

	"github.com/clawai/clawai/internal/ask/view"
)

// Size of the smallest window for a question. A smaller window would hide the choices or all facts.
const (
	MinWidth = 40
	minFacts = 2
)

// Grace is a short time in which no key counts as an answer. It starts when the content of the
// screen changes.
type Grace struct {
	For   time.Duration
	Now   func() time.Time
	until time.Time
}

// BeginWait starts the time in which no key counts as an answer.
func (g *Grace) BeginWait() { g.until = g.Now().Add(g.For) }

// IsEarly reports whether the time since BeginWait is still too short for an answer.
func (g *Grace) IsEarly() bool { return g.Now().Before(g.until) }

// Question is a page on a full screen. It knows its visible rows and the selected choice.
type Question struct {
	Page
	Menu    bool      // arrows and Return select a choice
	Letters bool      // the keys of the choices work
	Grace   *Grace    // all questions of a screen share one Grace
	Under   *Question // this question's facts are shown if the page has none

	at     int // index of the selected choice among the choices that are offered
	rows   []string
	need   int // number of rows, from the top, that must have been visible before allowing
	top    int // index of the first visible row
	room   int // number of rows that fit for the facts
	width  int // width in cells of the wrapped rows; 0: wrap them again
	sight  view.Sight
	unread bool // the last key wanted to allow too early: not all required rows had been visible
}

// Action is the effect of a key.
type Action uint8

// Effects of keys. After Stray, Early and Unread the person must wait again.
const (
	Stray  Action = iota // a key without a meaning; the first choice is selected again
	Early                // a key before the person could read the question
	Moved                // a key that scrolled or selected another choice
	Unread               // a key that allows, pressed when the end of the question was not yet visible; the page scrolls on instead
	Closed               // the key of an unavailable choice
	Chosen               // the key of a choice
)

// visibleQuestion returns the question whose facts are on the screen: q or q.Under.
func (q *Question) visibleQuestion() *Question {
	if q.Facts == nil && q.Under != nil {
		return q.Under
	}
	return q
}

// ResetRows makes FitWindow build the rows again, because the facts may have changed.
func (q *Question) ResetRows() { q.width = 0 }

// ScrollTop scrolls to the first row.
func (q *Question) ScrollTop() { q.top = 0 }

// FitWindow gives the question a part of the screen. It reports whether the part is large enough.
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

// PressScrollKey handles a key that scrolls the facts. It reports whether key is such a key.
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

// PressKey handles one key. For Closed and Chosen it also returns the choice.
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

// RejectInput handles input that was meant for another program. The next input may be meant for it
// too, so the wait starts again.
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
