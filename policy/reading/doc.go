// Package reading says what a value of a call could mean to a server: text in, readings
// out. A path can be spelled in many ways, a URL too, and which of them a server
// undoes is not known; so a value is put through every transformation that one might,
// and each result is a reading. It also says what a text looks like: a path, a
// boolean, what names a place or a command.
//
// The room is pure, and knows no rule.
package reading
