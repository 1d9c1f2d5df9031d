// Package hook is a transport: a client that is about to run a tool starts us, writes
// what it is going to do, and reads whether it may. Each run is one exchange through the
// gate, by the same rules and into the same record as those of the proxy.
//
// Allow is silence. Everything else, what cannot be read and what fails in here among it,
// is a denial that the client cannot mistake. Arguments are never rewritten: what is
// judged is what the client runs.
package hook
