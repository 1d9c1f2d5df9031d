// Package hook is a transport: a client that is about to run a tool starts this program, writes
// the call to it, and reads the decision. Each run is one exchange through the gate, with the
// same rules and the same record as those of the proxy.
//
// Silence means allow. In every other case, also for unreadable input and internal failures, the
// answer is a denial that the client cannot misread. Arguments are never rewritten: the client
// runs the call that was judged.
package hook
