// Package notify points a person to a question with a desktop notification.
//
// A notification is never the question and never an answer: it says which
// server asks and what to run. It is posted by the system's own program, with
// arguments and never through a shell; it holds nothing up and its failure
// changes nothing. What the wire named is reduced to letters, digits and the
// punctuation of names first, so that neither Pango markup, nor the escapes
// that notify-send reads, nor a script has anything to interpret.
package notify
