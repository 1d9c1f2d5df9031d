package policy

import (
	"bytes"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
)

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

// A panic beside the caller reaches the caller, who has none of its own.
func TestShareWorkPanicsBeside(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	var both sync.WaitGroup
	both.Add(2)
	defer func() {
		if r := recover(); r != "beside" {
			t.Errorf("%v", r)
		}
	}()
	shareWork(2, func(int) {
		both.Done()
		both.Wait() // each goroutine has one piece
		if bytes.Contains(debug.Stack(), []byte("sync.(*WaitGroup).Go")) {
			panic("beside")
		}
	})
}
