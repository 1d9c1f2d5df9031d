// Package session builds the gate session of whoever carries messages: it
// composes the policy and its reloads, the record, the ways to ask a person and
// what the sessions of a process share.
//
// A transport is handed the *gate.Session and knows nothing of this room. Flags
// are read, and texts are printed, by the command.
package session
