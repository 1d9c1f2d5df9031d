// Package ask asks a person whether a call may go on: gate.Approver as a
// question on the controlling terminal, and as Never, which asks nobody.
//
// What is shown is what would be executed, made harmless. Silence, end of file,
// a hang-up, a window too small to show the question, and every doubt deny. The
// room never uses a terminal that another program owns, and never writes to
// standard output, which carries the protocol.
package ask
