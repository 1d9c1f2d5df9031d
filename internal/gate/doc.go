// Package gate is the only way between a client and a server. Every message that wants
// to cross is passed to Session.Do or Session.Observe together with its Outlet. It
// leaves through Outlet.Forward or not at all.
//
// The order is policy, person, record, forward. It is fixed in stages.go and cannot be
// configured. Every stage after the policy can only tighten. Only a plain reply
// (nothing in it to judge, and its call is on record) is forwarded before its own
// record, and no other message is forwarded until that record is written (pending.go).
// Any doubt (a panic, a failed record, an answer to another question) refuses.
//
// The bytes judged are the bytes recorded and the bytes sent. Where a rule edits
// strings, the record has both digests, the frame reader checks the result again, and
// everything outside the named strings is byte-identical. This package edits nothing.
//
// This package never opens a terminal, a file or a socket. It is given all its ports
// (ports.go); a port that has no implementation is None.
package gate
