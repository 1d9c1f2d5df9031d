// Package pin knows what a server has said of itself as somebody approved it, and says
// what is different in what it says now: in words of a few classes, each with what it
// costs. It has the form in which that is written to a file.
//
// Two entries are the same when their canonical forms are (see canonical.go). Who reads
// a server must have admitted its lines as strictly as internal/wire/frame does.
package pin

// Formula is the number of the canonical form. Entries are kept whole, so that another
// formula is computed from what is kept and asks nobody anything.
const Formula = 1
