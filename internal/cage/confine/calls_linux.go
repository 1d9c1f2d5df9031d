package confine

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// refused are system calls that no server in a cage needs. They reach other processes, keys,
// mounts, namespaces and the kernel. The io_uring calls are refused because this filter does not
// see the operations in a ring.
var refused = strings.Fields(`
	ptrace process_vm_readv process_vm_writev process_madvise kcmp pidfd_getfd
	io_uring_setup io_uring_enter io_uring_register
	keyctl add_key request_key
	mount umount2 move_mount open_tree open_tree_attr fsopen fsconfig fsmount fspick mount_setattr pivot_root chroot
	unshare setns name_to_handle_at open_by_handle_at
	bpf perf_event_open userfaultfd fanotify_init
	kexec_load kexec_file_load init_module finit_module delete_module create_module
	reboot swapon swapoff acct quotactl quotactl_fd syslog vhangup iopl ioperm nfsservctl lookup_dcookie
	clock_settime clock_adjtime settimeofday adjtimex sethostname setdomainname uselib ustat sysfs _sysctl`)

// metadata are system calls that change the mode, owner, times or attributes of a file. Landlock
// has no rule for these calls. So the filter refuses them, unless read-only mounts protect the
// files.
var metadata = strings.Fields(`chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes futimesat utimensat
	setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat file_setattr`)

// namespaceFlags are the flags of clone that make namespaces.
const namespaceFlags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// priorityOfProcess is IOPRIO_WHO_PROCESS of ioprio_set.
const priorityOfProcess = 1

// Actions of the kernel for a system call that is not allowed.
const (
	endProcess = unix.SECCOMP_RET_KILL_PROCESS
	denied     = unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES)
	forbidden  = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	noSuchCall = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS) // libraries then use an older call
)

// callRule refuses a system call if all conditions in its field `when` are true.
type callRule struct {
	name   string
	action uint32
	when   []condition
}

// condition tests the lower 32 bits of an argument. The kernel ignores the upper bits of the arguments
// that the rules test, so the upper bits cannot matter.
type condition struct {
	argument uint32
	test     bpf.JumpTest
	value    uint32
}

// filterCalls installs the filter of system calls, for this process and all processes that it starts.
func filterCalls(h *helper) error {
	program, err := h.callFilter()
	if err != nil {
		return err
	}
	filter := make([]unix.SockFilter, len(program))
	for i, op := range program {
		filter[i] = unix.SockFilter{Code: op.Op, Jt: op.Jt, Jf: op.Jf, K: op.K}
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]} //nolint:gosec // the kernel takes 4096 at most
	if _, _, no := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog))); no != 0 {
		return no
	}
	runtime.KeepAlive(filter)
	h.hold("system calls: filtered, no sockets of the machine")
	return nil
}

// callNumber is a system call, and its number on this processor.
type callNumber struct {
	name   string
	number uint32
}

// findCall returns the number of a system call. It returns false if this processor has no such call.
func findCall(name string) (uint32, bool) {
	for _, known := range [][]callNumber{callNumbers[:], olderCalls[:]} {
		for i := range known {
			if known[i].name == name {
				return known[i].number, true
			}
		}
	}
	return 0, false
}

// callFilter assembles the filter. A call of another architecture (a 32-bit program on a 64-bit
// system) has other numbers, so the filter ends the process.
func (h *helper) callFilter() ([]bpf.RawInstruction, error) {
	const numberOffset, architectureOffset, firstArgument = 0, 4, 16 // byte offsets in struct seccomp_data
	if len(callNumbers) == 0 {
		return nil, errors.New("there is no filter for this processor")
	}
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: architectureOffset, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: architecture, SkipTrue: 1},
		bpf.RetConstant{Val: endProcess},
	}
	if foreignCalls > 0 {
		program = append(program, bpf.LoadAbsolute{Off: numberOffset, Size: 4},
			bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: foreignCalls, SkipFalse: 1}, bpf.RetConstant{Val: noSuchCall})
	}
	for _, r := range h.callRules() {
		number, found := findCall(r.name)
		if !found {
			continue // this architecture has no such call
		}
		rest := 2*len(r.when) + 1
		program = append(program, bpf.LoadAbsolute{Off: numberOffset, Size: 4}, bpf.JumpIf{Cond: bpf.JumpEqual, Val: number, SkipFalse: uint8(rest)}) //nolint:gosec // small numbers
		for _, c := range r.when {
			rest -= 2
			program = append(program, bpf.LoadAbsolute{Off: firstArgument + 8*c.argument, Size: 4}, bpf.JumpIf{Cond: c.test, Val: c.value, SkipFalse: uint8(rest)}) //nolint:gosec // small numbers
		}
		program = append(program, bpf.RetConstant{Val: r.action})
	}
	return bpf.Assemble(append(program, bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}))
}

// callRules returns the rules about system calls that are refused.
func (h *helper) callRules() (rules []callRule) {
	add := func(name string, action uint32, when ...condition) {
		rules = append(rules, callRule{name, action, when})
	}
	names := refused
	if !h.mounts {
		names = slices.Concat(refused, metadata)
	}
	for _, name := range names {
		add(name, forbidden)
	}
	if !h.spec.Network && !h.spec.Own {
		add("socket", denied)
	}
	add("socket", denied, condition{0, bpf.JumpNotEqual, unix.AF_INET}, condition{0, bpf.JumpNotEqual, unix.AF_INET6}, condition{0, bpf.JumpNotEqual, unix.AF_NETLINK})
	add("socket", denied, condition{0, bpf.JumpEqual, unix.AF_NETLINK}, condition{2, bpf.JumpNotEqual, unix.NETLINK_ROUTE})
	add("socket", denied, condition{1, bpf.JumpBitsSet, 1}, condition{1, bpf.JumpBitsSet, 2}) // SOCK_RAW is 3, so bits 1 and 2 are set; the other bits may be flags
	add("socketpair", denied, condition{0, bpf.JumpNotEqual, unix.AF_UNIX})
	add("socketpair", denied, condition{1, bpf.JumpBitsSet, 2}) // SOCK_DGRAM: each end of the pair could send to a socket at any path
	if !h.spec.Own {                                            // without an IPC namespace the server would share memory and queues with the machine
		for _, name := range []string{"shmget", "shmat", "msgget", "semget", "mq_open"} {
			add(name, forbidden)
		}
	}
	if h.spec.Layered { // countMemory does not see shared memory that no process has mapped
		for _, name := range []string{"memfd_create", "memfd_secret", "shmget"} {
			add(name, noSuchCall)
		}
	}
	add("prlimit64", forbidden, condition{0, bpf.JumpNotEqual, 0}) // with a lower limit, the server could end another process
	add("setpriority", forbidden, condition{0, bpf.JumpNotEqual, unix.PRIO_PROCESS})
	add("setpriority", forbidden, condition{1, bpf.JumpNotEqual, 0})
	add("ioprio_set", forbidden, condition{0, bpf.JumpNotEqual, priorityOfProcess})
	add("ioprio_set", forbidden, condition{1, bpf.JumpNotEqual, 0})
	add("ioctl", forbidden, condition{1, bpf.JumpEqual, unix.TIOCSTI})
	add("ioctl", forbidden, condition{1, bpf.JumpEqual, unix.TIOCLINUX})
	add("clone", forbidden, condition{0, bpf.JumpBitsSet, namespaceFlags})
	add("clone3", noSuchCall) // the flags of clone3 are in memory, which a filter cannot read
	if !h.spec.Forks {
		add("clone", forbidden, condition{0, bpf.JumpBitsNotSet, unix.CLONE_THREAD})
		add("fork", forbidden)
		add("vfork", forbidden)
	}
	return rules
}
