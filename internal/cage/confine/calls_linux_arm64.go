package confine

import "golang.org/x/sys/unix"

// architecture is the kernel's number for the processor. System calls of another numbering begin at
// foreignCalls under the same architecture; 0 means that there is no other numbering.
const (
	architecture = unix.AUDIT_ARCH_AARCH64
	foreignCalls = 0
)

// olderCalls is empty: this processor is newer and never had these calls.
var olderCalls [0]callNumber
