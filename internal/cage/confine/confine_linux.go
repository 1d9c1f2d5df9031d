package confine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// helper is the state of one run of the helper program.
type helper struct {
	spec     Spec
	report   Report
	mounts   bool     // the folders are protected by mounts of this process, not only by Landlock
	variable []string // variables for the server that clawai adds or replaces
}

// step is one step in building the cage.
type step struct {
	name  string
	build func(*helper) error
}

// steps is the order in which the cage is built. Landlock forbids later mounts, and the filter of
// system calls forbids all later changes, so these two come last.
var steps = []step{
	{"descriptors", closeDescriptors},
	{"folders", arrangeFolders},
	{"network", arrangeNetwork},
	{"capabilities", dropCapabilities},
	{"privileges", forbidPrivileges},
	{"files", restrictFiles},
	{"system calls", filterCalls},
}

// Run builds the cage and then replaces this process by the server (exec). It returns, with an exit
// code, only if the server was not started. words are the encoded Spec and then the server's command.
// name is the name of this program, for its messages.
func Run(name string, words []string) int {
	runtime.LockOSThread() // each step changes the thread that executes the server
	if len(words) < 2 {
		fmt.Fprintf(os.Stderr, "%s: clawai starts this program, with a cage and a command\n", name)
		return ExitFault
	}
	unix.CloseOnExec(ReportFD)
	h := &helper{}
	spec, err := parseSpec(words[0])
	if err == nil {
		h.spec = spec
		err = h.buildCage()
	}
	env := h.environment()
	if err == nil {
		h.hold("variables: %d of %d", len(env), len(os.Environ()))
		err = h.writeReport()
	}
	code := ExitFault
	if err == nil {
		err = unix.Exec(spec.Program, words[1:], env)
		if code = 126; errors.Is(err, fs.ErrNotExist) {
			code = 127
		}
	}
	h.report = Report{Fault: err.Error(), Code: code}
	if h.writeReport() != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
	}
	return code
}

// buildCage runs all steps. Without Spec.Enforce, a step that fails is only reported.
func (h *helper) buildCage() error {
	for _, s := range steps {
		err := s.build(h)
		if err == nil {
			continue
		}
		if err := h.lack(s.name + ": " + err.Error()); err != nil {
			return err
		}
	}
	return nil
}

// lack reports a part of the cage that could not be built. With Spec.Enforce it returns an error.
func (h *helper) lack(what string) error {
	if h.spec.Enforce {
		return errors.New(what)
	}
	h.report.Weaker = append(h.report.Weaker, what)
	return nil
}

func (h *helper) hold(format string, a ...any) {
	h.report.Holds = append(h.report.Holds, fmt.Sprintf(format, a...))
}

func (h *helper) writeReport() error {
	text, err := json.Marshal(h.report)
	if err != nil {
		return err
	}
	if _, err = syscall.Write(ReportFD, append(text, '\n')); err != nil {
		return fmt.Errorf("nobody reads the report: %w", err)
	}
	return nil
}

// environment returns the variables that the server gets.
func (h *helper) environment() []string {
	env := slices.Clone(h.variable)
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		own := slices.ContainsFunc(h.variable, func(o string) bool { return strings.HasPrefix(o, name+"=") })
		if slices.Contains(h.spec.Env, name) && !own {
			env = append(env, v)
		}
	}
	return env
}

// closeDescriptors makes the server inherit only its standard input, output and error.
func closeDescriptors(h *helper) error {
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return err
	}
	h.hold("descriptors: 0, 1 and 2")
	return nil
}

// arrangeNetwork sets up the server's own network namespace, unless the machine's network is open.
func arrangeNetwork(h *helper) error {
	switch {
	case h.spec.Network:
		h.hold("network: the machine's")
		return nil
	case !h.spec.Own && h.spec.Hosts:
		return errors.New("this system lets no user make a network of its own, so no host can be reached")
	case !h.spec.Own:
		h.hold("network: none (no sockets)")
		return nil
	}
	if err := StartLoopback(); err != nil {
		return err
	}
	if h.spec.Hosts {
		return h.openHosts()
	}
	h.hold("network: none (a namespace of its own)")
	return nil
}

// dropCapabilities drops all capabilities except Spec.Keep. It also drops them from the bounding set,
// so that a program of root does not get them back when it is started.
func dropCapabilities(h *helper) error {
	for c := uintptr(0); ; c++ {
		if slices.Contains(h.spec.Keep, c) {
			continue
		}
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) {
			break // c is larger than the last capability
		}
		if errors.Is(err, unix.EPERM) && os.Geteuid() != 0 {
			break // the user has no capabilities, and no_new_privs prevents new ones
		}
		if err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	header, kept := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, [2]unix.CapUserData{}
	for _, c := range h.spec.Keep {
		kept[c/32].Permitted |= 1 << (c % 32)
		kept[c/32].Effective |= 1 << (c % 32)
	}
	if err := unix.Capset(&header, &kept[0]); err != nil {
		return err
	}
	if len(h.spec.Keep) > 0 {
		h.hold("capabilities: %d, over files of the namespace", len(h.spec.Keep))
		return nil
	}
	h.hold("capabilities: none")
	return nil
}

// forbidPrivileges makes sure that a setuid program runs without its special privileges.
func forbidPrivileges(h *helper) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	h.hold("privileges: setuid programs are ordinary ones")
	return nil
}

// StartLoopback starts the loopback device of the network that the process is in.
func StartLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}
