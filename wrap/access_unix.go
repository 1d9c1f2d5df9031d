//go:build unix

package wrap

import "golang.org/x/sys/unix"

// mayWrite asks for the user that started the program.
func mayWrite(path string) bool { return unix.Access(path, unix.W_OK) == nil }

// notOurs refuses nothing: a file keeps its owner, or is not written.
func notOurs(string) error { return nil }
