// Package view turns a question into harmless text: everything that a person must know to answer,
// in one order, for every channel.
//
// Everything from the wire is made harmless here, once. No string of a Question has a control
// character, a line break, or a character that hides, moves or reorders the text beside it, and
// no line of Lines begins with text from the wire. A channel escapes these strings further for
// its own medium (HTML, Markdown, JSON) and shows them; it interprets nothing in them.
//
// The package must never read a file, follow a link or a path, or leave out a part of a call
// without telling how much: for a call that it cannot show it returns ErrTooMany or
// ErrUnreadable, and the caller denies.
package view
