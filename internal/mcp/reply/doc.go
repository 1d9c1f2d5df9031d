// Package reply applies rules to a message of a server. It searches the message's strings. It
// returns the message with marks in place of findings, with marks around its texts, or without some
// list entries. Every other byte is unchanged, and internal/wire/frame checks the result again.
//
// The package has no side effects. It gets a message, the kinds to search for, and the change, and
// it returns bytes. The caller knows which rule requires the change.
package reply
