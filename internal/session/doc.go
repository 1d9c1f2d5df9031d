// Package session builds the gate session for every program that carries messages. It combines the
// policy and its reloads, the record, the ways to ask a person and what the sessions of a process
// share.
//
// A transport gets the *gate.Session and does not depend on this package. The command reads flags
// and prints texts.
package session
