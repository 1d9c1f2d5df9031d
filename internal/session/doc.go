// Package session builds the gate session for every program that carries messages. A command fills
// a Spec. Open opens one session from it, and Listen what many sessions share. They read the
// settings and the policy, open the record, and set up the ways to ask a person; Close closes all
// of it in the right order.
//
// A transport gets the *gate.Session and does not depend on this package. The command reads flags
// and prints texts.
package session
