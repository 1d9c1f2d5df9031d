package view

import "fmt"

// Rows are Lines and below them Entire, and how many of them must have been in
// sight, from the top, before anything is let through: those of Lines, with
// every argument and change. Of what Lines folds, the beginning, the end and the
// length are enough, unless the question needs care: then they all must, for the
// reason may be in the middle of a value.
func (q Question) Rows(width int) (rows []string, need int) {
	rows = q.Lines(width)
	need = len(rows)
	rows = append(rows, q.EntireLines(width)...)
	if len(q.Dangers) > 0 {
		need = len(rows)
	}
	return rows, need
}

// Sight is whether the end of something has been before a person's eyes. What
// lets a call through needs that, on every channel that does not show all
// of it at once; what denies never waits for it. The zero value has seen nothing.
type Sight struct{ end bool }

// NoteVisible notes that the row before bottom is in sight, of need rows that must be.
func (s *Sight) NoteVisible(bottom, need int) { s.end = s.end || bottom >= need }

// SawEnd says that the last of the rows that must be in sight was.
func (s Sight) SawEnd() bool { return s.end }

// RestLine gives the line below the rows from top to before bottom of all, which have
// more above or below them: how to see the rest, and whether allowing waits for
// that.
func (s Sight) RestLine(top, bottom, all int) string {
	at := fmt.Sprintf("lines %d-%d of %d; ", top+1, bottom, all)
	if s.end {
		return "── " + at + "PgUp, PgDn, Home, End show the rest"
	}
	return "── read to the end to allow: " + at + "PgDn, End"
}

// ReadOn gives Rest when the person has just tried to allow before the end.
func ReadOn(top, bottom, all int) string {
	return fmt.Sprintf("── read on first: lines %d-%d of %d; nothing was answered", top+1, bottom, all)
}
