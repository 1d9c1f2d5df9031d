// Package view turns a question into text that cannot harm: what a person must
// know to answer, in one order, for every channel.
//
// Everything from the wire is made harmless here, once. No string of a Question
// has a control character, a line break, or a character that hides, moves or
// reorders what stands beside it, and what begins a line of Lines is never from
// the wire. A channel escapes these strings further for its own medium
// (HTML, Markdown, JSON) and shows them; it interprets nothing in them.
//
// The package must never read a file, follow a link or a path, or leave a part
// of a call out without saying how much: what it cannot show it refuses with
// ErrTooMany or ErrUnreadable, and the caller denies.
package view
