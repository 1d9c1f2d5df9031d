// Package cmdline has the code that all commands of clawai share: exit codes, errors about a
// command line, options after names, and output.
package cmdline

import "fmt"

// These exit codes are documented in docs/commands.md. clawai proxy has one more code.
const (
	ExitOK     = 0
	ExitFailed = 1 // a check failed, or the work could not be done
	ExitUsage  = 2 // the command line or its input could not be read
)

// ExitError is an error with an exit code. If Err is nil, the user already knows the reason.
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

// Usagef returns an error about the command line, with exit code 2.
func Usagef(format string, a ...any) error {
	return &ExitError{Code: ExitUsage, Err: fmt.Errorf(format, a...)}
}

// ExitInterrupted is the exit code after SIGINT: 128 plus the number of the signal.
const ExitInterrupted = 130
