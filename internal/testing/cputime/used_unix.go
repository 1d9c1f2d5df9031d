//go:build unix

package cputime

import (
	"syscall"
	"testing"
	"time"
)

// Used returns the processor time of this process since its start.
func Used(t testing.TB) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
