package cputime

import (
	"testing"
	"time"

	"golang.org/x/sys/windows"
)

// Used returns the processor time that the process has used since it started.
func Used(t testing.TB) time.Duration {
	t.Helper()
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user); err != nil {
		t.Fatal(err)
	}
	const unit = 100 * time.Nanosecond // unit of a Filetime that holds a duration
	return unit * time.Duration(ticks(kernel)+ticks(user))
}

func ticks(f windows.Filetime) uint64 { return uint64(f.HighDateTime)<<32 | uint64(f.LowDateTime) }
