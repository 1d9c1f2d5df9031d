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
// returns. It compares a text of 64 KiB with one of 8 KiB. Linear work takes 8 times as long for the
// long text, and quadratic work 64 times. Because of caches, the garbage collector and reading up to
// 4 KiB ahead, linear work may take a few times more than that, so the bound is 28 times. After a
// failure the measurement is repeated.
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
