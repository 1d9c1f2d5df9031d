package view

import "fmt"

// Rows returns the rows of Lines followed by those of EntireLines. need is how many of them, from
// the top, must have been visible before anything is allowed: those of Lines, with every argument
// and change. For values that Lines folds, the head, the tail and the length are enough, unless
// the question needs care: then all rows must have been visible, because the reason may be in the
// middle of a value.
func (q Question) Rows(width int) (rows []string, need int) {
	rows = q.Lines(width)
	need = len(rows)
	rows = append(rows, q.EntireLines(width)...)
	if len(q.Dangers) > 0 {
		need = len(rows)
	}
	return rows, need
}

// Sight records whether a person has seen the end of something. An allow requires this on every
// channel that does not show everything at once; a deny never waits for it. With the zero value
// nothing was seen.
type Sight struct{ end bool }

// NoteVisible records that the row before bottom is visible, of need rows that must be.
func (s *Sight) NoteVisible(bottom, need int) { s.end = s.end || bottom >= need }

// SawEnd reports whether the last row that must be visible has been visible.
func (s Sight) SawEnd() bool { return s.end }

// RestLine returns the line below the rows from top to before bottom, when there are more rows
// above or below: it tells how to see the rest, and whether allowing requires that.
func (s Sight) RestLine(top, bottom, all int) string {
	at := fmt.Sprintf("lines %d-%d of %d; ", top+1, bottom, all)
	if s.end {
		return "── " + at + "PgUp, PgDn, Home, End show the rest"
	}
	return "── read to the end to allow: " + at + "PgDn, End"
}

// ReadOn returns the line of RestLine for a person who has just tried to allow before the end.
func ReadOn(top, bottom, all int) string {
	return fmt.Sprintf("── read on first: lines %d-%d of %d; nothing was answered", top+1, bottom, all)
}
