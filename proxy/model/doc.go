// Package model is a transport between an agent and the service of its model. The agent is configured
// with our address in place of the service's. The agent's requests hold the results of its tools, and
// the service's replies hold the tool calls that the agent should run next. Both go through the gate,
// with the same rules, labels and record as those of the other transports.
//
// Without Options.Judge nothing is held and no byte is changed. With it, a tool call in a reply waits
// until its arguments are complete and the gate has decided. A refused call is sent to the agent under
// the name of a tool that does not exist. The agent then reports the missing tool to its model. In that
// request, this package restores the tool's name and replaces the report by the gate's denial.
//
// The service's address comes from Options alone, never from a request. Keys in requests pass
// through and are not recorded.
package model
