// Package singlethread makes a program's Go code run on one thread at a time. It does so before the
// other packages initialise. With several threads, memory would move between processors, which takes
// longer than to judge a call.
package singlethread

import "runtime"

func init() {
	runtime.GOMAXPROCS(1)
	growStack(false)
}

// growStack makes the first stack grow once, while it holds little. Otherwise the packages'
// initialisation would double it several times, with a copy each time.
//
//go:noinline
func growStack(used bool) (last byte) {
	if used { // never true: a used array would be cleared
		var stack [20 << 10]byte
		last = stack[runtime.NumCPU()&1]
	}
	return last
}
