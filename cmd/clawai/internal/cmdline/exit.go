// Package cmdline is what the commands of clawai share: exit codes, the mistakes of a
// command line, options behind names, and how output is written.
package cmdline

import "fmt"

// Exit codes, documented in docs/commands.md. The proxy command adds its own.
const (
	ExitOK     = 0
	ExitFailed = 1 // a check failed, or the work could not be done
	ExitUsage  = 2 // the command line or its input could not be read
)

// ExitError carries an exit code; a nil err has already been told to the user.
type ExitError struct {
	Code int
	Err  error
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Code)
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// Usagef is a mistake on the command line: exit 2.
func Usagef(format string, a ...any) error {
	return &ExitError{Code: ExitUsage, Err: fmt.Errorf(format, a...)}
}

// ExitInterrupted is 128 and the number of SIGINT.
const ExitInterrupted = 130
