// Package view turns a question into harmless text. The text has everything that a person must know
// to answer, in one order for every channel.
//
// Everything from the wire is made harmless in this package, once. No string of a Question has a
// control character, a line break, or a character that hides, moves or reorders the text beside it.
// No line of Lines begins with text from the wire. A channel only escapes these strings for its own
// medium (HTML, Markdown, JSON) and shows them.
//
// The package must not read a file itself, or follow a link or a path. If it leaves out a part of a
// call, it says how much. For a call that it cannot show it returns ErrTooMany or ErrUnreadable,
// and the caller denies.
package view
