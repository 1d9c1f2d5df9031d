// Package ask asks a person whether a call may go on. It implements gate.Approver in several ways:
// as a question on the controlling terminal, as a chain of channels, and as Never, which denies
// without a question.
//
// The person sees what would be executed, in harmless form. Silence, end of file, a hang-up, a
// window too small for the question, and every doubt deny the call. The package never uses a
// terminal that another program owns. It never writes to standard output, because standard output
// carries the protocol.
package ask
