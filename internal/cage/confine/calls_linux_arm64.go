package confine

import "golang.org/x/sys/unix"

// architecture is the kernel's number for the processor. foreignCalls is the first number of a
// second set of system calls that has the same architecture; 0: there is no second set.
const (
	architecture = unix.AUDIT_ARCH_AARCH64
	foreignCalls = 0
)

// olderCalls is empty: this processor is newer and never had these calls.
var olderCalls [0]callNumber
