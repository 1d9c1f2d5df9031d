// Package gate is the one door between a client and a server. Whatever wants
// to cross is handed to Session.Do or Session.Observe together with its Outlet,
// and leaves by Outlet.Forward or not at all.
//
// The order is policy, person, record, forward; it stands in stages.go and cannot
// be configured. Every stage after the policy can only tighten. Only a reply with
// nothing in it to judge, to a call that is on record, goes on before its own record,
// and no other does until that is written (pending.go). Doubt of any kind (a panic, a
// failed record, an answer to another question) refuses.
//
// The bytes judged are the bytes recorded are the bytes sent. Where a rule edits
// strings, the record has both digests, the result is admitted again by the frame
// reader, and everything outside the named strings is byte-identical. Nothing here
// edits.
//
// The room never opens a terminal, a file or a socket: it is given its ports
// (ports.go), all of them, and None where there is nobody.
package gate
