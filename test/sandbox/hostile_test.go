//go:build linux

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// world is what the hostile server knows of the outside.
type world struct {
	Home, Box         string // the home, and the folder that is open
	Parent            int    // the process that started it: not in the cage
	TCP, UDP, Listed  string // listeners outside; the last is what a list of hosts names
	Unix, Abstract    string // sockets outside
	FD                int    // a descriptor that the parent has open
	Record, Policy    string
	Queue, Plain, Own string // clawai's queue; a file of the user; the program itself
}

// attempt is one way out. try returns nil if it leads out.
type attempt struct {
	name  string
	about string // the row of the table that it belongs to
	plain bool   // it leads out without a cage, so that it is known to work
	net   bool   // open under net = ["*"]
	try   func(w *world) error
}

func read(path func(w *world) string) func(*world) error {
	return func(w *world) error {
		text, err := os.ReadFile(path(w))
		if err == nil && len(text) == 0 {
			return errors.New("empty")
		}
		return err
	}
}

func write(path func(w *world) string) func(*world) error {
	return func(w *world) error {
		f, err := os.OpenFile(path(w), os.O_WRONLY|os.O_APPEND, 0)
		if err == nil {
			_, err = f.WriteString("x")
			_ = f.Close()
		}
		return err
	}
}

func create(path func(w *world) string) func(*world) error {
	return func(w *world) error { return os.WriteFile(path(w), []byte("x"), 0o600) }
}

func home(names ...string) func(*world) string {
	return func(w *world) string { return filepath.Join(append([]string{w.Home}, names...)...) }
}

func box(names ...string) func(*world) string {
	return func(w *world) string { return filepath.Join(append([]string{w.Box}, names...)...) }
}

func parent(name string) func(*world) string {
	return func(w *world) string { return fmt.Sprintf("/proc/%d/%s", w.Parent, name) }
}

// keepPriority sets the priority that there is: whoever may do that may also set a worse one.
func keepPriority(which, who int) error {
	twenty, err := unix.Getpriority(which, who) // the system call returns 20 less the value
	if err != nil {
		return err
	}
	return unix.Setpriority(which, who, 20-twenty)
}

// call makes a raw system call.
func call(no uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	if _, _, e := syscall.Syscall6(no, a[0], a[1], a[2], a[3], a[4], a[5]); e != 0 {
		return e
	}
	return nil
}

func text(s string) uintptr {
	p, _ := unix.BytePtrFromString(s)
	return uintptr(unsafe.Pointer(p))
}

func socket(family, kind, protocol int) func(*world) error {
	return func(*world) error {
		fd, err := unix.Socket(family, kind, protocol)
		if err == nil {
			_ = unix.Close(fd)
		}
		return err
	}
}

func dial(network string, address func(w *world) string) func(*world) error {
	return func(w *world) error {
		c, err := net.DialTimeout(network, address(w), patience)
		if err != nil {
			return err
		}
		defer c.Close()
		if network == "udp" { // a packet into the void is no way out: the listener answers
			if _, err = c.Write([]byte("out")); err == nil {
				_ = c.SetReadDeadline(time.Now().Add(patience))
				_, err = c.Read(make([]byte, 16))
			}
		}
		return err
	}
}

// dialByProxy connects as programs do that know of proxies.
func dialByProxy(address func(w *world) string) func(*world) error {
	return func(w *world) error {
		proxy, found := strings.CutPrefix(os.Getenv("HTTPS_PROXY"), "http://")
		if !found {
			return dial("tcp", address)(w)
		}
		c, err := net.DialTimeout("tcp", proxy, patience)
		if err != nil {
			return err
		}
		defer c.Close()
		answer, err := askProxy(c, "CONNECT "+address(w)+" HTTP/1.1\r\n\r\n")
		if err == nil && !strings.HasPrefix(answer, "HTTP/1.1 200 ") {
			err = errors.New(answer)
		}
		return err
	}
}

func askProxy(c net.Conn, request string) (answer string, err error) {
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err = c.Write([]byte(request)); err != nil {
		return "", err
	}
	text := make([]byte, 4096)
	n, err := c.Read(text)
	return string(text[:n]), err
}

// again runs one attempt in a child of the hostile server.
func again(name string, fill func(*exec.Cmd, *world) error) func(*world) error {
	return func(w *world) error {
		as, err := json.Marshal(w)
		if err != nil {
			return err
		}
		cmd := exec.Command(w.Own, "hostile", string(as), name)
		if fill != nil {
			if err := fill(cmd, w); err != nil {
				return err
			}
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		if !strings.Contains(string(out), `"Open":true`) {
			return errors.New(string(out))
		}
		return nil
	}
}

const (
	files     = "files of yours: read, list"
	writes    = "files of yours: write, create, delete, rename"
	modes     = "modes, times and attributes of files of yours"
	inside    = "what stays shut inside an open folder"
	clawai    = "clawai's policy, record and queue"
	links     = "links, hard links, /proc/self/root"
	others    = "other processes: memory, environment, descriptors, signals, limits"
	tcp       = "network: TCP, UDP"
	sockets   = "sockets of the machine: by path, abstract, raw, netlink"
	oneHost   = "one host by its address and by others, another host"
	rings     = "io_uring"
	kernel    = "mounts, namespaces, keys, the kernel"
	rights    = "setuid programs, capabilities"
	inherited = "inherited descriptors and variables"
	children  = "the same by a child, from memory, by 32-bit calls"
)

func attempts() []attempt {
	key := home(".ssh", "id")
	return []attempt{
		{"read-key", files, true, false, read(key)},
		{"read-file", files, true, false, read(func(w *world) string { return w.Plain })},
		{"read-client", files, true, false, read(home(".claude.json"))},
		{"read-browser", files, true, false, read(home(".mozilla", "firefox", "logins.json"))},
		{"list-home", files, true, false, func(w *world) error { _, err := os.ReadDir(w.Home); return err }},
		{"list-tmp", files, true, false, func(*world) error { _, err := os.ReadDir("/tmp"); return err }},
		{"read-shadow", files, false, false, read(func(*world) string { return "/etc/shadow" })},
		{"write-file", writes, true, false, write(func(w *world) string { return w.Plain })},
		{"write-shell", writes, true, false, write(home(".bashrc"))},
		{"create-shell", writes, true, false, create(home(".zshrc"))},
		{"create-tmp", writes, true, false, create(func(w *world) string { return "/tmp/cage-left-" + strconv.Itoa(os.Getpid()) })},
		{"mkdir", writes, true, false, func(w *world) error { return os.Mkdir(home("made-"+strconv.Itoa(os.Getpid()))(w), 0o700) }},
		{"delete", writes, true, false, func(w *world) error { return os.Remove(home("victim")(w)) }},
		{"truncate", writes, true, false, func(w *world) error { return os.Truncate(w.Plain, 5) }},
		{"rename-in", writes, true, false, func(w *world) error { return os.Rename(home("victim2")(w), box("taken")(w)) }},
		{"rename-out", writes, true, false, func(w *world) error {
			if err := os.WriteFile(box("mine")(w), nil, 0o600); err != nil {
				return errors.New("no file in the open folder: " + err.Error())
			}
			return os.Rename(box("mine")(w), home("placed")(w))
		}},
		{"create-autostart", writes, true, false, create(home(".config", "autostart", "x.desktop"))},
		{"chmod", modes, true, false, func(w *world) error { return os.Chmod(w.Plain, 0o644) }},
		{"chmod-key", modes, true, false, func(w *world) error { return os.Chmod(key(w), 0o644) }},
		{"fchmodat2", modes, true, false, func(w *world) error { return call(452, atCwd, text(w.Plain), 0o644, 0) }},
		{"utimes", modes, true, false, func(w *world) error { return os.Chtimes(w.Plain, time.Now(), time.Now()) }},
		{"setxattr", modes, false, false, func(w *world) error { return unix.Setxattr(w.Plain, "user.x", []byte("x"), 0) }},
		{"chown", modes, true, false, func(w *world) error { return os.Chown(w.Plain, -1, os.Getgid()) }},
		{"read-env", inside, true, false, read(box(".env"))},
		{"write-env", inside, true, false, write(box(".env"))},
		{"rename-env", inside, true, false, func(w *world) error {
			if err := os.Rename(box(".env")(w), box("env2")(w)); err != nil {
				return err
			}
			return os.Rename(box("env2")(w), box(".env")(w))
		}},
		{"create-hook", inside, true, false, create(box(".git", "hooks", "pre-commit"))},
		{"write-hook", inside, true, false, write(box(".git", "hooks", "sample"))},
		{"write-git-config", inside, true, false, write(box(".git", "config"))},
		{"move-hooks", inside, true, false, func(w *world) error {
			if err := os.Rename(box(".git", "hooks")(w), box(".git", "h2")(w)); err != nil {
				return err
			}
			return os.Rename(box(".git", "h2")(w), box(".git", "hooks")(w))
		}},
		{"move-git", inside, true, false, func(w *world) error {
			if err := os.Rename(box(".git")(w), box("git2")(w)); err != nil {
				return err
			}
			return os.Rename(box("git2")(w), box(".git")(w))
		}},
		{"write-vscode", inside, true, false, write(box(".vscode", "tasks.json"))},
		{"read-policy", clawai, true, false, read(func(w *world) string { return w.Policy })},
		{"write-policy", clawai, true, false, write(func(w *world) string { return w.Policy })},
		{"read-record", clawai, true, false, read(func(w *world) string { return w.Record })},
		{"write-record", clawai, true, false, write(func(w *world) string { return w.Record })},
		{"read-queue", clawai, true, false, read(func(w *world) string { return w.Queue })},
		{"write-queue", clawai, true, false, write(func(w *world) string { return w.Queue })},
		{"delete-queue-lock", clawai, true, false, func(w *world) error { return os.Remove(w.Queue + "-wal") }},
		{"symlink", links, true, false, func(w *world) error {
			link := box("link-" + strconv.Itoa(os.Getpid()))(w)
			if err := os.Symlink(key(w), link); err != nil {
				return err
			}
			defer os.Remove(link)
			return read(func(*world) string { return link })(w)
		}},
		{"hardlink", links, true, false, func(w *world) error {
			link := box("hard-" + strconv.Itoa(os.Getpid()))(w)
			if err := os.Link(key(w), link); err != nil {
				return err
			}
			defer os.Remove(link)
			return read(func(*world) string { return link })(w)
		}},
		{"hardlink-hidden", links, true, false, func(w *world) error {
			link := box("hard2-" + strconv.Itoa(os.Getpid()))(w)
			if err := os.Link(box(".env")(w), link); err != nil {
				return err
			}
			defer os.Remove(link)
			return read(func(*world) string { return link })(w)
		}},
		{"self-root", links, true, false, read(func(w *world) string { return "/proc/self/root" + key(w) })},
		{"self-cwd", links, true, false, read(func(w *world) string { return "/proc/self/cwd/../.ssh/id" })},
		{"dots", links, true, false, read(box("..", ".ssh", "id"))},
		{"device-fd", links, true, false, func(w *world) error {
			fd, err := unix.Open(key(w), unix.O_PATH, 0)
			if err != nil {
				return err
			}
			return read(func(*world) string { return fmt.Sprintf("/dev/fd/%d", fd) })(w)
		}},
		{"parent-environ", others, true, false, read(parent("environ"))},
		{"parent-root", others, true, false, read(func(w *world) string { return parent("root")(w) + key(w) })},
		{"parent-cwd", others, true, false, func(w *world) error { _, err := os.ReadDir(parent("cwd")(w)); return err }},
		{"parent-fds", others, true, false, func(w *world) error { _, err := os.Readlink(parent("fd/0")(w)); return err }},
		{"parent-maps", others, true, false, read(parent("maps"))},
		{"parent-mem", others, true, false, func(w *world) error { f, err := os.Open(parent("mem")(w)); _ = f.Close(); return err }},
		{"process-vm", others, true, false, func(w *world) error {
			var here [8]byte
			local := unix.Iovec{Base: &here[0], Len: 8}
			_, err := unix.ProcessVMReadv(w.Parent, []unix.Iovec{local}, []unix.RemoteIovec{{Base: mapped(w), Len: 8}}, 0)
			return err
		}},
		{"ptrace", others, true, false, again("ptrace-now", nil)}, // its end lets the parent go
		{"kill", others, true, false, func(w *world) error { return unix.Kill(w.Parent, unix.SIGURG) }},
		{"tgkill", others, true, false, func(w *world) error { return unix.Tgkill(w.Parent, w.Parent, unix.SIGURG) }},
		{"limit", others, true, false, func(w *world) error {
			var limit unix.Rlimit
			if err := unix.Prlimit(w.Parent, unix.RLIMIT_NOFILE, nil, &limit); err != nil {
				return err
			}
			return unix.Prlimit(w.Parent, unix.RLIMIT_NOFILE, &limit, nil)
		}},
		{"priority", others, true, false, func(w *world) error { return keepPriority(unix.PRIO_PROCESS, w.Parent) }},
		{"priority-of-all", others, true, false, func(*world) error { return keepPriority(unix.PRIO_USER, 0) }},
		{"disk-priority", others, true, false, func(w *world) error {
			return call(unix.SYS_IOPRIO_SET, 1, uintptr(w.Parent), 0) // none of its own, as before
		}},
		{"pidfd-signal", others, true, false, func(w *world) error {
			fd, err := unix.PidfdOpen(w.Parent, 0)
			if err != nil {
				return err
			}
			return unix.PidfdSendSignal(fd, unix.SIGURG, nil, 0)
		}},
		{"pidfd-getfd", others, true, false, func(w *world) error {
			fd, err := unix.PidfdOpen(w.Parent, 0)
			if err != nil {
				return err
			}
			_, err = unix.PidfdGetfd(fd, w.FD, 0)
			return err
		}},
		{"tcp", tcp, true, true, dial("tcp", func(w *world) string { return w.TCP })},
		{"udp", tcp, true, true, dial("udp", func(w *world) string { return w.UDP })},
		{"unix", sockets, true, false, dial("unix", func(w *world) string { return w.Unix })},
		{"abstract", sockets, true, false, dial("unix", func(w *world) string { return "@" + w.Abstract })},
		{"unixgram", sockets, true, false, socket(unix.AF_UNIX, unix.SOCK_DGRAM, 0)},
		{"unixgram-pair", sockets, true, false, func(*world) error {
			_, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
			return err
		}},
		{"unix-high-bits", sockets, false, false, func(*world) error {
			return call(unix.SYS_SOCKET, 1<<32|unix.AF_UNIX, unix.SOCK_STREAM, 0)
		}},
		{"raw", sockets, false, false, socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.IPPROTO_ICMP)},
		{"packet", sockets, false, false, socket(unix.AF_PACKET, unix.SOCK_RAW, 0)},
		{"vsock", sockets, false, false, socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)},
		{"crypto", sockets, false, false, socket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0)},
		{"netlink-diag", sockets, true, false, socket(unix.AF_NETLINK, unix.SOCK_DGRAM, unix.NETLINK_SOCK_DIAG)},
		{"netlink-audit", sockets, true, false, socket(unix.AF_NETLINK, unix.SOCK_DGRAM, unix.NETLINK_AUDIT)},
		{"listed-host", oneHost, true, true, dialByProxy(func(w *world) string { return w.Listed })},
		{"listed-by-name", oneHost, true, true, dialByProxy(func(w *world) string { return strings.Replace(w.Listed, "127.0.0.1", "localhost", 1) })},
		{"listed-mapped", oneHost, true, true, dialByProxy(func(w *world) string { return strings.Replace(w.Listed, "127.0.0.1", "[::ffff:127.0.0.1]", 1) })},
		{"listed-directly", oneHost, true, true, dial("tcp", func(w *world) string { return w.Listed })},
		{"other-host", oneHost, true, true, dialByProxy(func(w *world) string { return w.TCP })},
		{"io-uring", rings, false, false, func(*world) error {
			var params [120]byte
			return call(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)))
		}},
		{"mount", kernel, false, false, func(*world) error { return unix.Mount("tmpfs", "/mnt", "tmpfs", 0, "") }},
		{"umount-hidden", kernel, false, false, func(w *world) error { return unix.Unmount(box(".env")(w), unix.MNT_DETACH) }},
		{"fsopen", kernel, false, false, func(*world) error { return call(unix.SYS_FSOPEN, text("tmpfs"), 0) }},
		{"open-tree", kernel, false, false, func(*world) error { return call(unix.SYS_OPEN_TREE, atCwd, text("/"), unix.OPEN_TREE_CLONE) }},
		{"mount-setattr", kernel, false, false, func(*world) error {
			attr := unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}
			return unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &attr)
		}},
		{"unshare-user", kernel, true, false, again("unshare-now", nil)},
		{"clone-user", kernel, true, false, func(w *world) error {
			cmd := exec.Command("/bin/true")
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
			return cmd.Run()
		}},
		{"setns", kernel, false, false, func(w *world) error {
			f, err := os.Open(parent("ns/net")(w))
			if err != nil {
				return err
			}
			return unix.Setns(int(f.Fd()), unix.CLONE_NEWNET)
		}},
		{"chroot", kernel, false, false, func(w *world) error { return unix.Chroot(w.Box) }},
		{"keyctl", kernel, true, false, func(*world) error { _, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_KEYRING, true); return err }},
		{"add-key", kernel, true, false, func(*world) error {
			_, err := unix.AddKey("user", "cage", []byte("x"), unix.KEY_SPEC_PROCESS_KEYRING)
			return err
		}},
		{"bpf", kernel, false, false, func(*world) error { var a [64]byte; return call(unix.SYS_BPF, 0, uintptr(unsafe.Pointer(&a)), 64) }},
		{"perf", kernel, false, false, func(*world) error {
			_, err := unix.PerfEventOpen(&unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Size: 112}, w0, -1, -1, 0)
			return err
		}},
		{"userfaultfd", kernel, false, false, func(*world) error { return call(unix.SYS_USERFAULTFD, 0) }},
		{"handle", kernel, false, false, func(*world) error { return call(unix.SYS_OPEN_BY_HANDLE_AT, atCwd, 0, 0) }},
		{"core-pattern", kernel, false, false, write(func(*world) string { return "/proc/sys/kernel/core_pattern" })},
		{"kernel-messages", kernel, false, false, func(*world) error { return call(unix.SYS_SYSLOG, 3, 0, 0) }},
		{"terminal", kernel, false, false, func(*world) error { f, err := os.Open("/dev/tty"); _ = f.Close(); return err }},
		{"push-input", kernel, false, false, func(*world) error { return refusedCall(unix.SYS_IOCTL, 0, unix.TIOCSTI, text("x")) }},
		{"push-input-high-bits", kernel, false, false, func(*world) error { return refusedCall(unix.SYS_IOCTL, 0, 1<<32|unix.TIOCSTI, text("x")) }},
		{"device-file", kernel, false, false, func(w *world) error { return unix.Mknod(box("dev")(w), unix.S_IFCHR|0o600, 0x0101) }},
		{"privileges", rights, true, false, func(*world) error {
			if on, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil || on == 1 {
				return errors.New("no_new_privs")
			}
			return nil
		}},
		{"setuid", rights, false, false, func(*world) error { return unix.Setuid(0) }},
		{"capability", rights, false, false, func(*world) error {
			var header = unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
			var data [2]unix.CapUserData
			if err := unix.Capget(&header, &data[0]); err != nil || data[0].Permitted == 0 {
				return errors.New("none")
			}
			return nil
		}},
		{"bounding-set", rights, true, false, func(*world) error {
			if on, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, unix.CAP_SYS_ADMIN, 0, 0, 0); err != nil || on == 0 {
				return errors.New("empty")
			}
			return nil
		}},
		{"descriptor", inherited, true, false, func(w *world) error {
			_, err := unix.Pread(w.FD, make([]byte, 1), 0)
			return err
		}},
		{"variable", inherited, true, false, func(*world) error {
			if os.Getenv("CAGE_TEST_TOKEN") == "" {
				return errors.New("not set")
			}
			return nil
		}},
		{"preload", inherited, true, false, func(*world) error {
			if os.Getenv("LD_PRELOAD") == "" {
				return errors.New("not set")
			}
			return nil
		}},
		{"child-key", children, true, false, again("read-key", nil)},
		{"child-tcp", children, true, true, again("tcp", nil)},
		{"child-unix", children, true, false, again("unix", nil)},
		{"from-memory", children, true, false, again("read-key", runFromMemory)},
		{"by-linker", children, true, false, func(w *world) error {
			for _, linker := range []string{"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"} {
				if _, err := os.Stat(linker); err == nil {
					out, err := exec.Command(linker, "/bin/cat", key(w)).CombinedOutput()
					if err != nil {
						return fmt.Errorf("%w: %s", err, out)
					}
					return nil
				}
			}
			return errors.New("no linker")
		}},
		{"32-bit", children, runtime.GOARCH == "amd64", false, callOldWay},
		{"ptrace-now", "", false, false, func(w *world) error {
			runtime.LockOSThread()
			return unix.PtraceSeize(w.Parent)
		}},
		{"unshare-now", "", false, false, func(*world) error { return oneThread(unix.CLONE_NEWNS) }},
	}
}

// patience is how long a listener may take on a busy machine. In a cage it is refused at once.
const patience = 20 * time.Second

const (
	w0    = 0
	atCwd = ^uintptr(99) // AT_FDCWD
)

// refusedCall is open only if the kernel looked at the call: no terminal is also a look.
func refusedCall(no uintptr, args ...uintptr) error {
	if err := call(no, args...); errors.Is(err, unix.EPERM) {
		return err
	}
	return nil
}

// oneThread makes a namespace for this thread. A user namespace must come first, which only a
// process with one thread can have; so it is made by the child of a new one.
func oneThread(flags uintptr) error {
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWUSER | flags}
	return cmd.Run()
}

// mapped returns an address that the parent has mapped: the program's beginning.
func mapped(w *world) uintptr {
	maps, err := os.ReadFile("/proc/self/maps") // the same program, not moved
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(maps), "-")
	at, _ := strconv.ParseUint(first, 16, 64)
	return uintptr(at)
}

func runFromMemory(cmd *exec.Cmd, w *world) error {
	fd, err := unix.MemfdCreate("x", 0)
	if err != nil {
		return err
	}
	program, err := os.ReadFile(w.Own)
	if err != nil {
		return err
	}
	if _, err := unix.Write(fd, program); err != nil {
		return err
	}
	cmd.Path = fmt.Sprintf("/proc/self/fd/%d", fd)
	return nil
}

// callOldWay runs a program of 64 bits that makes a system call as programs of 32 bits do.
func callOldWay(w *world) error {
	code := []byte{0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xb8, 60, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05} // getpid by int 0x80; exit 0
	const base, headers = 0x400000, 64 + 56
	b := make([]byte, 0, 256)
	put := func(size int, v uint64) {
		for range size {
			b = append(b, byte(v))
			v >>= 8
		}
	}
	b = append(b, 0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	for _, f := range [][2]uint64{{2, 2}, {2, 62}, {4, 1}, {8, base + headers}, {8, 64}, {8, 0}, {4, 0}, {2, 64}, {2, 56}, {2, 1}, {2, 0}, {2, 0}, {2, 0}} {
		put(int(f[0]), f[1])
	}
	size := uint64(headers + len(code))
	for _, f := range [][2]uint64{{4, 1}, {4, 5}, {8, 0}, {8, base}, {8, base}, {8, size}, {8, size}, {8, 4096}} {
		put(int(f[0]), f[1])
	}
	path := box("old-" + strconv.Itoa(os.Getpid()))(w)
	if err := os.WriteFile(path, append(b, code...), 0o700); err != nil {
		return errors.New("cannot write the program: " + err.Error())
	}
	defer os.Remove(path)
	return exec.Command(path).Run()
}
