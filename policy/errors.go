package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Error is one reason why a policy does not load.
type Error struct {
	Pos  Position
	Text string // the offending text, as the file has it; may be ""
	Msg  string // what is wrong
	Hint string // what to write instead; may be ""
}

// FileName returns the name of a file in a form that fits into one line of text. It quotes a
// name with a character that is not printable: after a line break in the name, the runner of a
// CI pipeline could take the rest for a command.
func FileName(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// Error returns "file:line:column: what is wrong (what to write instead)".
func (e *Error) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s", FileName(e.Pos.File), e.Pos.Line, e.Pos.Column, e.Msg)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Errors holds everything that is wrong with a policy, in the order of the file. If Errors is
// empty, there is no error.
type Errors []*Error

// Error returns one line for each error.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find the first error.
func (es Errors) Unwrap() []error {
	out := make([]error, len(es))
	for i, e := range es {
		out[i] = e
	}
	return out
}

// sortByPosition sorts errors by position; errors at the same position keep their order.
func (es Errors) sortByPosition() {
	slices.SortStableFunc(es, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column))
	})
}
