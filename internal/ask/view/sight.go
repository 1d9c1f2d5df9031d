package view

import "fmt"

// Rows returns the rows of Lines, followed by the rows of EntireLines. The result need is the
// number of rows, from the top, that a person must have seen before allowing: all rows of Lines. If
// the question needs care, need is the number of all rows, because the reason may be in the middle
// of a value that Lines folds.
func (q Question) Rows(width int) (rows []string, need int) {
	rows = q.Lines(width)
	need = len(rows)
	rows = append(rows, q.EntireLines(width)...)
	if len(q.Dangers) > 0 {
		need = len(rows)
	}
	return rows, need
}

// Sight records whether a person has seen all rows that must be seen. An answer that allows
// requires this on every channel that scrolls; an answer that denies does not. The zero value means
// that the person has seen nothing.
type Sight struct{ end bool }

// NoteVisible records that the first rows of the question have been visible. The parameter bottom
// is the number of these rows, and the parameter need is the number of rows that the person must
// see.
func (s *Sight) NoteVisible(bottom, need int) { s.end = s.end || bottom >= need }

// SawEnd reports whether the person has seen all rows that must be seen.
func (s Sight) SawEnd() bool { return s.end }

// RestLine returns the line below the visible rows. The visible rows have the indexes from top to
// bottom-1. The parameter all is the number of all rows. The line tells how to see the other rows,
// and whether the person must see them before allowing.
func (s Sight) RestLine(top, bottom, all int) string {
	at := fmt.Sprintf("lines %d-%d of %d; ", top+1, bottom, all)
	if s.end {
		return "── " + at + "PgUp, PgDn, Home, End show the rest"
	}
	return "── read to the end to allow: " + at + "PgDn, End"
}

// ReadOn returns the line in place of RestLine after a person has tried to allow too early.
func ReadOn(top, bottom, all int) string {
	return fmt.Sprintf("── read on first: lines %d-%d of %d; nothing was answered", top+1, bottom, all)
}
