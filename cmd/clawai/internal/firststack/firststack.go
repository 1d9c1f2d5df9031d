// Package firststack makes the stack of a program's first goroutine grow once. It does this before the
// other packages initialise, while the stack is almost empty. Otherwise the stack would double several
// times at each start. Each time, the runtime copies all frames and looks up every function on the stack.
package firststack

import "unsafe"

func init() { growStack(false) }

// size is the new size of the stack in bytes. The command line, the reading of a policy and the
// opening of a session together need more than this.
const size = 48 << 10

// growStack has a frame of this size, so the stack grows. The parameter used is never true: if the
// code used the array, the runtime would clear it first.
//
//go:noinline
func growStack(used bool) (last byte) {
	if used {
		var stack [size]byte
		last = stack[uintptr(unsafe.Pointer(&last))%size]
	}
	return last
}
