// Package firststack makes the stack of a program's first goroutine grow once, before the other packages
// initialise and while it holds little. Otherwise it would double several times at each start, with a copy of
// all frames each time, for which the runtime looks up every function on the stack.
package firststack

import "unsafe"

func init() { growStack(false) }

// size is less than what the command line, reading a policy and opening a session use together.
const size = 48 << 10

// growStack needs a frame of that size, but leaves it alone: used is never true, and a used array would be
// cleared.
//
//go:noinline
func growStack(used bool) (last byte) {
	if used {
		var stack [size]byte
		last = stack[uintptr(unsafe.Pointer(&last))%size]
	}
	return last
}
