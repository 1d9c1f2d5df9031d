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

// FileName gives the name of a file for one line of text. A name that could begin a
// line of its own, which a runner of a pipeline may take for a command, is quoted.
func FileName(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// Error gives "file:line:column: what is wrong (what to write instead)".
func (e *Error) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s", FileName(e.Pos.File), e.Pos.Line, e.Pos.Column, e.Msg)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Errors is everything wrong with a policy, in the order of the file. It is an
// error when it is not empty.
type Errors []*Error

// Error gives one line for each finding.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find the first finding.
func (es Errors) Unwrap() []error {
	out := make([]error, len(es))
	for i, e := range es {
		out[i] = e
	}
	return out
}

// sortByPosition orders findings by position; those of one place keep their order.
func (es Errors) sortByPosition() {
	slices.SortStableFunc(es, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column))
	})
}
