// Package cmdline holds what the commands of clawai share: exit codes, mistakes on a command
// line, options after names, and the writing of output.
package cmdline

import "fmt"

// Exit codes, documented in docs/commands.md. The proxy command adds its own.
const (
	ExitOK     = 0
	ExitFailed = 1 // a check failed, or the work could not be done
	ExitUsage  = 2 // the command line or its input could not be read
)

// ExitError carries an exit code. With a nil Err, the user has already been told.
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

// Usagef returns an error for a mistake on the command line: exit code 2.
func Usagef(format string, a ...any) error {
	return &ExitError{Code: ExitUsage, Err: fmt.Errorf(format, a...)}
}

// ExitInterrupted is 128 plus the number of SIGINT.
const ExitInterrupted = 130
