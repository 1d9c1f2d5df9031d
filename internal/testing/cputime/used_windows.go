package cputime

import (
	"testing"
	"time"

	"golang.org/x/sys/windows"
)

// Used returns the processor time of this process since its start.
func Used(t testing.TB) time.Duration {
	t.Helper()
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user); err != nil {
		t.Fatal(err)
	}
	const unit = 100 * time.Nanosecond // the unit of a Filetime
	return unit * time.Duration(ticks(kernel)+ticks(user))
}

func ticks(f windows.Filetime) uint64 { return uint64(f.HighDateTime)<<32 | uint64(f.LowDateTime) }
