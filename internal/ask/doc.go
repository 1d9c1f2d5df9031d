// Package ask asks a person whether a call may go on. It implements gate.Approver as a question on
// the controlling terminal, and as Never, which denies without a question.
//
// It shows what would be executed, in harmless form. Silence, end of file, a hang-up, a window
// too small for the question, and every doubt deny. The package never uses a terminal that
// another program owns, and never writes to standard output, which carries the protocol.
package ask
