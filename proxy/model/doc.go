// Package model is a transport between an agent and the service of its model. The agent's
// configuration has our address instead of the service's. The agent's requests hold the results of
// its tools. The service's replies hold the tool calls that the agent should run next. Both pass
// the gate, with the same rules, labels and record as in the other transports.
//
// Without Options.Judge nothing is held and no byte is changed. With it, a tool call in a reply
// waits until its arguments are complete and the gate has decided. In a refused call, the agent
// gets the name of a tool that does not exist. The agent then reports the missing tool to its
// model. In that request, this package restores the tool's name and replaces the report by the
// gate's denial.
//
// The service's address comes only from Options, never from a request. Keys in requests are passed
// on and are not recorded.
package model
