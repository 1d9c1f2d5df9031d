// Package session builds the gate session for every command that carries messages. The command
// fills in a Spec. Open opens one session from the Spec. Listen opens the parts that many sessions
// share, and Sessions.Open then opens each session. Open and Listen read the settings and the
// policy, open the record, and prepare the ways to ask a person. Close closes all of this in the
// right order.
//
// A transport gets the *gate.Session and does not import this package. The command reads flags and
// prints texts; this package does not.
package session
