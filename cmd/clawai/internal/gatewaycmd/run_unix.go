//go:build unix

package gatewaycmd

import (
	"os"
	"syscall"
)

// runProgram replaces this process by the program (exec), so that the program gets the signals and
// returns its own exit code.
func runProgram(path string, words []string) error {
	return syscall.Exec(path, append([]string{path}, words...), os.Environ()) //nolint:gosec // the program beside this one
}
