// Package reply applies rules to a message that comes back: it finds content in the message's
// strings, and returns the message with findings taken out, with marks around it, or without some
// list entries. Every other byte stays unchanged; the result is admitted by internal/wire/frame
// again.
//
// It is pure: it takes a message, the kinds to look for and the change, and returns bytes. The
// caller knows which rule requires the change.
package reply
