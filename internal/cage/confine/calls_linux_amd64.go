package confine

import "golang.org/x/sys/unix"

// architecture is the kernel's number for the processor. foreignCalls is the first number of a
// second set of system calls (x32) that has the same architecture; 0: there is no second set.
const (
	architecture = unix.AUDIT_ARCH_X86_64
	foreignCalls = 0x40000000
)

// olderCalls are the other system calls in the rules. Only older processors have these calls.
var olderCalls = [...]callNumber{
	{"create_module", unix.SYS_CREATE_MODULE},
	{"iopl", unix.SYS_IOPL},
	{"ioperm", unix.SYS_IOPERM},
	{"uselib", unix.SYS_USELIB},
	{"ustat", unix.SYS_USTAT},
	{"sysfs", unix.SYS_SYSFS},
	{"_sysctl", unix.SYS__SYSCTL},
	{"chmod", unix.SYS_CHMOD},
	{"chown", unix.SYS_CHOWN},
	{"lchown", unix.SYS_LCHOWN},
	{"utime", unix.SYS_UTIME},
	{"utimes", unix.SYS_UTIMES},
	{"futimesat", unix.SYS_FUTIMESAT},
	{"fork", unix.SYS_FORK},
	{"vfork", unix.SYS_VFORK},
}
