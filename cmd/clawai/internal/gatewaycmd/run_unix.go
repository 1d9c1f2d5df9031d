//go:build unix

package gatewaycmd

import (
	"os"
	"syscall"
)

// runProgram becomes the program, so that signals and the exit code are its own.
func runProgram(path string, words []string) error {
	return syscall.Exec(path, append([]string{path}, words...), os.Environ()) //nolint:gosec // the program beside this one
}
