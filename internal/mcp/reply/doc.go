// Package reply applies rules to a message that a server sends: it searches the message's strings,
// and returns the message with findings replaced by marks, with marks around its texts, or without
// some list entries. Every other byte stays unchanged; internal/wire/frame admits the result again.
//
// The package has no side effects: it takes a message, the kinds to look for and the change, and
// returns bytes. The caller knows which rule requires the change.
package reply
