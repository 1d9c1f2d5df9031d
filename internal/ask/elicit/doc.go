// Package elicit asks the owner through the MCP client's own form: a channel that sends one
// message with one choice. It does not fully trust the answer, because a client may answer
// without a person (a hook, an autopilot), and some clients show nothing. clients.toml lists what
// is known about clients.
//
// The package contains no protocol code: the question carries the form (gate.Client). It must
// never allow on an answer that is not exactly one of the offered ones, and never permanently,
// because nobody can be sure who fills in a client's form.
package elicit
