// Package gate is the only way between a client and a server. Transports pass every message to
// Session.Do or Session.Observe, together with its Outlet. A message leaves the gate through
// Outlet.Forward or not at all.
//
// The order is policy, person, record, forward. It is fixed in stages.go and cannot be configured.
// Every stage after the policy can only make the verdict stricter. Only a plain reply is forwarded
// before its own record: it has nothing to judge, and its call is on record. No other message is
// forwarded until the outcomes of such replies are on record (pending.go). Any doubt (a panic, a
// failed record, an answer to another question) leads to a refusal.
//
// The bytes judged are the bytes recorded and the bytes sent. When a rule edits strings, the record
// has both digests, the frame reader checks the result again, and everything outside the edited
// strings is byte-identical. This package edits nothing.
//
// This package never opens a terminal, a file or a socket. The caller gives it all its ports
// (ports.go). For a port that is not used, the caller passes the empty implementation, the type
// None.
package gate
