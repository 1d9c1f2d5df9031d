package main

import "fmt"

// Exit codes, documented in docs/exit-codes.md. The proxy command adds its own.
const (
	exitOK     = 0
	exitFailed = 1 // a check failed, or the work could not be done
	exitUsage  = 2 // the command line or its input could not be read
)

// exitError carries an exit code; a nil err has already been told to the user.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usagef is a mistake on the command line: exit 2.
func usagef(format string, a ...any) error {
	return &exitError{code: exitUsage, err: fmt.Errorf(format, a...)}
}

// exitInterrupted is 128 and the number of SIGINT.
const exitInterrupted = 130

// version is set by the release build.
var version = "dev"
