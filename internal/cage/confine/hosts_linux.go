package confine

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// proxyVariables are the variables by which programs find a proxy.
var proxyVariables = []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"}

// openHosts makes listening sockets in the server's network, and sends them to the process that
// started the helper.
func (h *helper) openHosts() error {
	var all []int
	defer func() {
		for _, fd := range all {
			_ = unix.Close(fd)
		}
	}()
	for _, door := range append([]Door{{Address: "127.0.0.1"}}, h.spec.Doors...) {
		fd, err := listenAt(door)
		if err != nil {
			return fmt.Errorf("no way out at %s:%d: %w", door.Address, door.Port, err)
		}
		all = append(all, fd)
	}
	name, err := unix.Getsockname(all[0])
	if err != nil {
		return err
	}
	if err := unix.Sendmsg(HostsFD, []byte{0}, unix.UnixRights(all...), nil, 0); err != nil {
		return fmt.Errorf("nobody takes the way out: %w", err)
	}
	address := fmt.Sprintf("http://127.0.0.1:%d", name.(*unix.SockaddrInet4).Port)
	for _, variable := range proxyVariables {
		h.variable = append(h.variable, variable+"="+address)
	}
	h.variable = append(h.variable, "NO_PROXY=", "no_proxy=", "NODE_USE_ENV_PROXY=1")
	h.hold("network: the hosts of its list (a namespace of its own, and a proxy)")
	return nil
}

func listenAt(door Door) (fd int, err error) {
	address, err := netip.ParseAddr(door.Address)
	if err != nil {
		return -1, err
	}
	fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if err = unix.Bind(fd, &unix.SockaddrInet4{Port: int(door.Port), Addr: address.As4()}); err == nil {
		err = unix.Listen(fd, 128)
	}
	if err != nil {
		_ = unix.Close(fd)
	}
	return fd, err
}

// hostsFile is the file in which programs look up a name first.
const hostsFile = "/etc/hosts"

// coverHosts mounts a file with the names of the doors over the system's hosts file.
func (m *mounter) coverHosts(doors []Door) {
	real, err := filepath.EvalSymlinks(hostsFile)
	if m.do("find "+hostsFile, err); len(doors) == 0 || m.err != nil {
		return
	}
	text := "127.0.0.1 localhost\n"
	if name, err := os.Hostname(); err == nil {
		text += "127.0.0.1 " + name + "\n"
	}
	for _, door := range doors {
		if door.Name != "" {
			text += door.Address + " " + door.Name + "\n"
		}
	}
	file := filepath.Join(TempFolder, "hosts")
	m.do("make "+hostsFile, unix.Mount("tmpfs", TempFolder, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=0755,size=64k"))
	if m.err != nil {
		return
	}
	m.do("make "+hostsFile, os.WriteFile(file, []byte(text), 0o444)) //nolint:gosec // names of hosts
	m.take(file, 0, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC, real)
	m.put()
	m.do("make "+hostsFile, unix.Unmount(TempFolder, unix.MNT_DETACH))
}
