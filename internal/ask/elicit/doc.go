// Package elicit asks the owner through the form of the MCP client (elicitation). It is a channel
// that sends one message with one choice. It does not fully trust the answer, because a client may
// answer without a person (through a hook or an autopilot), and some clients show no form.
// clients.toml lists what is known about clients.
//
// The package contains no protocol code; gate.Client sends the form. An answer allows only if it is
// exactly one of the offered choices. No answer allows permanently, because a program may have
// filled in the form.
package elicit
