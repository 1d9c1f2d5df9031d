// Package singlethread makes a program's Go code run on one thread at a time. It is initialised
// before the other packages. With several threads, memory would move between processors, and that
// takes longer than the judgement of a call.
package singlethread

import "runtime"

func init() {
	runtime.GOMAXPROCS(1)
	growStack(false)
}

// growStack makes the first stack grow once, while the stack is almost empty. Without this, the
// initialisation of the packages would double the stack several times and copy it each time.
//
//go:noinline
func growStack(used bool) (last byte) {
	if used { // never true, but the compiler reserves the array; using the array would cost time to clear it
		var stack [20 << 10]byte
		last = stack[runtime.NumCPU()&1]
	}
	return last
}
