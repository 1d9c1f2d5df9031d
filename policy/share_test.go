package policy

import "testing"

// Each piece of work is done once, and a panic reaches the caller, in whichever goroutine it was.
func TestShareWork(t *testing.T) {
	for _, n := range []int{0, 1, 2, 100} {
		done := make([]int, n)
		shareWork(n, func(i int) { done[i]++ })
		for i, times := range done {
			if times != 1 {
				t.Errorf("%d of %d: done %d times", i, n, times)
			}
		}
	}
	for bad := range 8 {
		func() {
			defer func() {
				if r := recover(); r != bad {
					t.Errorf("%v, not %d", r, bad)
				}
			}()
			shareWork(8, func(i int) {
				if i == bad {
					panic(i)
				}
			})
		}()
	}
}
