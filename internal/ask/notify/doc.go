// Package notify points a person to a question with a desktop notification.
//
// A notification never contains the question and never takes an answer. It names the server that
// asks and the command to run. The system's own program posts it; it gets arguments and is not
// started through a shell. A notification delays nothing, and an error has no effect on the
// question. Names from the wire are first reduced to letters, digits and the punctuation of names,
// so that Pango markup, the escapes of notify-send, and scripts have no effect.
package notify
