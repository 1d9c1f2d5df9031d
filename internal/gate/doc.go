// Package gate is the one door between a client and a server. Whatever wants
// to cross is handed to Session.Do or Session.Observe together with its Outlet,
// and leaves by Outlet.Forward or not at all.
//
// The order is policy, person, record, forward; it stands in do.go and cannot
// be configured. Only a reply with nothing in it to judge, to a call that is on
// record, goes on before its own record, and no other does until that is written
// (owed.go). Doubt of any kind (a panic, a failed record, an answer to
// another question) refuses. The room never opens a terminal, a file or a
// socket: it is given a Policy, a Recorder and an Approver.
package gate
