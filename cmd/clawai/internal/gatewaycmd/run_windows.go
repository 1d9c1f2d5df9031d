package gatewaycmd

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
)

// runProgram runs the program and returns its exit code. The console sends Ctrl-C to both
// processes. This process ignores Ctrl-C, because the program handles it.
func runProgram(path string, words []string) error {
	signal.Ignore(os.Interrupt)
	cmd := exec.Command(path, words...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return &cmdline.ExitError{Code: exit.ExitCode()}
	}
	return err
}
