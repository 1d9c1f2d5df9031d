// Package exectest writes programs that tests then start.
package exectest

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Write writes a program to path. All users may start it. No other test starts a process while
// Write has the file open: such a process would inherit the open file, and then the program could
// not be started (ETXTBSY, golang.org/issue/22315).
func Write(t testing.TB, path string, program []byte) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, program, 0o755); err != nil {
		t.Fatal(err)
	}
}

// Self copies the running test program to path.
func Self(t testing.TB, path string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	Write(t, path, program)
}
