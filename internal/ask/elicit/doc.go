// Package elicit asks the owner through the MCP client's own form: a channel that
// sends one message and one choice, and takes what comes back for what it is
// worth. A client may answer without a person (a hook, an autopilot), and some
// show nothing; what is known of them stands in clients.toml.
//
// The room knows no protocol: the question carries the form (gate.Client). It
// must never allow on an answer that is not exactly one it offered, and never
// for good: nobody can be sure who fills in a client's form.
package elicit
