// Package singlethread has a program's Go code run on one thread at a time, from before the other
// packages make what they need: memory that two processors hold is not given from one to
// the other for less than one call costs.
package singlethread

import "runtime"

func init() {
	runtime.GOMAXPROCS(1)
	growStack(false)
}

// growStack has the first stack grow once, as long as there is little on it: what the packages make
// would have it grow by halves, and be copied each time.
//
//go:noinline
func growStack(used bool) (last byte) {
	if used { // never: what is used is cleared
		var stack [20 << 10]byte
		last = stack[runtime.NumCPU()&1]
	}
	return last
}
