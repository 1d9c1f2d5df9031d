// Package model is a transport: it stands between an agent and the service of its model, under an
// address that the agent is told. The agent's requests hold what its tools returned, the service's
// replies what tools it shall run next. Both go through the gate, with the same rules, labels and
// record as those of the other transports.
//
// Without Options.Judge nothing is held and no byte is changed. With it, the part of a reply that
// asks for a tool waits until its arguments are complete and the gate has decided. A refused call
// goes on under the name of a tool that does not exist. The agent then tells its model so, and in
// that request the name is put right and the text becomes the gate's denial.
//
// The service's address comes from Options alone, never from a request. Keys in requests pass
// through and are not recorded.
package model
