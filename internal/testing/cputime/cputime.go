// Package cputime measures work by the processor time of this process. On a busy machine, the
// elapsed time would also depend on the work of other processes.
package cputime

import (
	"testing"
	"time"
)

// Of returns the processor time that this process uses while f runs. No other goroutine may work
// during this time.
func Of(t testing.TB, f func()) time.Duration {
	t.Helper()
	start := Used(t)
	f()
	return Used(t) - start
}

// CheckLinear fails the test if the processor time of f grows faster than linearly with the size of
// its text. It measures f with a text of 64 KiB and with a text of 8 KiB from makeText. The long
// text takes 8 times as long if f is linear, and 64 times as long if f is quadratic. Caches, the
// garbage collector and reading up to 4 KiB ahead can make linear work a few times slower, so the
// limit is 28 times. After a failure, CheckLinear measures again.
func CheckLinear(t *testing.T, unit string, makeText func(size int) string, f func(text string)) {
	t.Helper()
	const size = 8 << 10
	small, large := makeText(size), makeText(8*size)
	short, long := Of(t, func() { f(small) }), Of(t, func() { f(large) })
	for range 4 {
		if long <= 28*short+50*time.Millisecond {
			return
		}
		short = min(short, Of(t, func() { f(small) }))
		long = min(long, Of(t, func() { f(large) }))
	}
	t.Errorf("%.40q: %v of processor time for %d KiB, %v for %d KiB", unit, short, size>>10, long, size>>7)
}
