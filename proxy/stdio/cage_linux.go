package stdio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clawai/clawai/internal/cage"
	"github.com/clawai/clawai/internal/cage/confine"
	"github.com/clawai/clawai/internal/cage/hosts"
)

// cageWait is how long a helper may take to build the cage.
const cageWait = 10 * time.Second

// startCaged starts the helper, which builds the cage and then becomes the server. If the system
// does not allow user namespaces, it starts the helper without them. The helper then reports
// whether the cage is still good enough.
func startCaged(o Options) (*Child, error) {
	if found := exec.Command(o.Args[0]); found.Err != nil {
		return nil, startError(o.Args[0], found.Err)
	}
	c, err := startHelper(o, true)
	if failed, ok := errors.AsType[*StartError](err); ok && failed.before {
		c, err = startHelper(o, false)
	}
	return c, err
}

func startHelper(o Options, own bool) (*Child, error) {
	fault := func(err error) error { return &StartError{Code: CodeNotExecutable, Name: o.Args[0], Err: err} }
	helper, err := cage.HelperCommand()
	if err != nil {
		return nil, fault(err)
	}
	spec := o.Cage.Spec
	spec.Own = own
	text, err := confine.EncodeSpec(&spec)
	if err != nil {
		return nil, fault(err)
	}
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, fault(err)
	}
	defer ours.Close()
	cmd := exec.Command(helper[0], append(append(helper[1:], text), o.Args...)...)
	cmd.ExtraFiles = []*os.File{theirs} // this file is descriptor confine.ReportFD in the helper
	var door, inside *os.File
	if spec.Hosts {
		if door, inside, err = socketPair(); err != nil {
			_ = theirs.Close()
			return nil, fault(err)
		}
		defer door.Close()
		cmd.ExtraFiles = append(cmd.ExtraFiles, inside) // this file is descriptor confine.HostsFD in the helper
	}
	if own {
		cmd.SysProcAttr = namespaces(!spec.Network)
	}
	c, err := startCommand(cmd, o)
	_ = theirs.Close()
	_ = inside.Close()
	if err != nil {
		failed, _ := errors.AsType[*StartError](err)
		failed.before = own
		failed.Name = o.Args[0]
		failed.Err = fmt.Errorf("its sandbox: %w", failed.Err)
		return nil, err
	}
	_ = ours.SetReadDeadline(time.Now().Add(cageWait))
	report, err := readReport(ours)
	if err == nil && spec.Hosts && own {
		if err = c.openHosts(door, o); err != nil && !spec.Enforce { // without Enforce the server still runs, but it has no network
			report.Weaker, err = append(report.Weaker, err.Error()), nil
		}
	}
	if err == nil {
		c.report = report
		return c, nil
	}
	ended, end := context.WithCancel(context.Background())
	end()
	go func() { _, _ = new(bytes.Buffer).ReadFrom(c) }() // Close waits until the last output is read
	c.group.killGroup()
	_ = c.Close(ended)
	failed := &StartError{Code: CodeNotExecutable, Name: o.Args[0], Err: err}
	if report != nil && report.Code > 0 {
		failed.Code = report.Code
	}
	return nil, failed
}

// openHosts takes the listening sockets in the server's network. On them it serves the proxy and
// the doors to the listed hosts.
func (c *Child) openHosts(door *os.File, o Options) error {
	all, err := takeListeners(door, 1+len(o.Cage.Spec.Doors))
	if err != nil {
		return fmt.Errorf("its sandbox has no way out: %w", err)
	}
	c.hosts = all
	way := &hosts.Proxy{List: o.Cage.Hosts, Not: o.Cage.NotHosts, Refused: o.Refused}
	go way.Serve(all[0])
	for i, d := range o.Cage.Doors {
		go way.ServeDoor(all[1+i], d)
	}
	return nil
}

// socketPair returns two sockets that are connected with each other.
func socketPair() (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "door"), os.NewFile(uintptr(fds[1]), "door"), nil //nolint:gosec // descriptors
}

// takeListeners receives n listening sockets from the helper. It need not wait, because the helper
// sends them before its report.
func takeListeners(from *os.File, n int) (all listeners, err error) {
	control := make([]byte, unix.CmsgSpace(4*n))
	_, size, _, _, err := unix.Recvmsg(int(from.Fd()), make([]byte, 1), control, unix.MSG_CMSG_CLOEXEC|unix.MSG_DONTWAIT) //nolint:gosec // a descriptor
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(control[:size])
	if err != nil || len(messages) != 1 {
		return nil, errors.New("it sent no sockets")
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	for _, fd := range fds {
		file := os.NewFile(uintptr(fd), "listener") //nolint:gosec // a descriptor
		l, failed := net.FileListener(file)
		_ = file.Close()
		if err = errors.Join(err, failed); failed == nil {
			all = append(all, l)
		}
	}
	if err == nil && len(all) != n {
		err = fmt.Errorf("it sent %d sockets, not %d", len(all), n)
	}
	if err != nil {
		_ = all.Close()
		return nil, err
	}
	return all, nil
}

// listeners are sockets that Close closes together.
type listeners []net.Listener

func (l listeners) Close() (err error) {
	for _, one := range l {
		err = errors.Join(err, one.Close())
	}
	return err
}

// namespaces returns the process attributes that give the helper its own mounts and network. The
// user's id is the same inside these namespaces.
func namespaces(network bool) *syscall.SysProcAttr {
	uid, gid := os.Geteuid(), os.Getegid()
	attr := &syscall.SysProcAttr{
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE, unix.CAP_SETPCAP}, // capabilities in these namespaces only; the helper drops them
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}},
	}
	if network {
		attr.Cloneflags |= syscall.CLONE_NEWNET
	}
	return attr
}

// readReport reads the reports of the helper, until the helper has become the server or has ended.
// The server runs in its cage only if the last report has no fault.
func readReport(from *os.File) (*confine.Report, error) {
	var text bytes.Buffer
	if _, err := text.ReadFrom(from); err != nil {
		return nil, fmt.Errorf("its sandbox was not built in time: %w", err)
	}
	var last *confine.Report
	for lines := json.NewDecoder(&text); lines.More(); {
		last = &confine.Report{}
		if err := lines.Decode(last); err != nil {
			return nil, fmt.Errorf("the report of its sandbox cannot be read: %w", err)
		}
	}
	switch {
	case last == nil:
		return nil, errors.New("its sandbox was not built")
	case last.Fault != "" && last.Code == confine.ExitFault:
		return last, fmt.Errorf("its sandbox cannot be built: %s", last.Fault)
	case last.Fault != "":
		return last, errors.New(last.Fault)
	}
	return last, nil
}
