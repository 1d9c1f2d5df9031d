// Package singlethread makes a program's Go code run on one thread at a time. It is initialised
// before the other packages. With several threads, memory would move between processors, and that
// takes longer than the judgement of a call.
package singlethread

import "runtime"

func init() {
	runtime.GOMAXPROCS(1)
	growStack(false)
}

// growStack makes the first stack grow once, while the stack is almost empty. Otherwise, the
// initialisation of the packages would double the stack several times and copy it each time.
//
//go:noinline
func growStack(used bool) (last byte) {
	if used { // the condition is never true, so the array only reserves stack and is never cleared
		var stack [20 << 10]byte
		last = stack[runtime.NumCPU()&1]
	}
	return last
}
