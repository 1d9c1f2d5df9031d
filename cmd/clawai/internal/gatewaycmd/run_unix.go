//go:build unix

package gatewaycmd

import (
	"os"
	"syscall"
)

// runProgram replaces this process by the program (exec). So the program gets the signals, and its
// exit code is ours.
func runProgram(path string, words []string) error {
	// path is the program in our own folder.
	return syscall.Exec(path, append([]string{path}, words...), os.Environ()) //nolint:gosec
}
