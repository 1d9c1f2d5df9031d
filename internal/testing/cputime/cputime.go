// Package cputime measures work by the processor time that the process used. On a busy
// machine the clock also counts the work of other processes.
package cputime

import (
	"testing"
	"time"
)

// Of returns the processor time that the process uses while f runs. No other goroutine of the
// process may work meanwhile.
func Of(t testing.TB, f func()) time.Duration {
	t.Helper()
	start := Used(t)
	f()
	return Used(t) - start
}

// CheckLinear fails the test if f needs more than linear time for the text that makeText
// returns. The long text has 64 KiB, 16 times the bytes of the short one.
// Quadratic work would take 256 times as long. Caches and the garbage collector make a few
// times more than 16 of linear work, so the bound is 64. A failure is tried again.
func CheckLinear(t *testing.T, unit string, makeText func(size int) string, f func(text string)) {
	t.Helper()
	const size = 4 << 10
	small, large := makeText(size), makeText(16*size)
	short, long := Of(t, func() { f(small) }), Of(t, func() { f(large) })
	for range 4 {
		if long <= 64*short+50*time.Millisecond {
			return
		}
		short = min(short, Of(t, func() { f(small) }))
		long = min(long, Of(t, func() { f(large) }))
	}
	t.Errorf("%.40q: %v of processor time for %d KiB, %v for %d KiB", unit, short, size>>10, long, size>>6)
}
