// Package notify points a person to a question with a desktop notification.
//
// A notification is never the question and never an answer: it tells which server asks and which
// command to run. The system's own program posts it, with arguments and never through a shell. It
// delays nothing, and its failure changes nothing. Names from the wire are first reduced to
// letters, digits and the punctuation of names, so that Pango markup, the escapes that
// notify-send reads, and scripts have no effect.
package notify
