package flow

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// FindPeer returns the id of the process at the other end of a connection; 0 if the process is not
// found. The parameter peer is the address of that process, and the parameter own is our address.
// Both addresses are on this machine. The process is the client, a process of the client, or a
// program that the client has started. Only Linux shows which process has a connection.
func FindPeer(peer, own netip.AddrPort) int {
	inode := findSocket(peer.Port(), own.Port())
	if inode == "" {
		return 0
	}
	if pid := findOwner("socket:[" + inode + "]"); pid != os.Getpid() {
		return pid
	}
	return 0
}

// ProcessKey returns the key under which the labels of a running process are kept; "" if there is
// no process with this id.
func ProcessKey(pid int) string {
	if p := processKey(pid); p != "" {
		return byProcess + p
	}
	return ""
}

// Ancestry returns the keys of a running process and of its parent processes: first its own key,
// then its parent's. It returns nil on a system that does not show processes.
func Ancestry(pid int) (keys []string) {
	for range 32 {
		p := readStat(pid)
		key := p.uniqueKey()
		if key == "" || pid <= 1 {
			break
		}
		keys, pid = append(keys, byProcess+key), p.parent
	}
	return keys
}

// findSocket returns the inode of the socket with these ports (proc_pid_net(5)); "" for no socket.
func findSocket(local, remote uint16) string {
	from, to := fmt.Sprintf(":%04X", local), fmt.Sprintf(":%04X", remote)
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		table, _ := os.ReadFile(name)
		for line := range bytes.Lines(table) {
			f := strings.Fields(string(line))
			if len(f) > 9 && strings.HasSuffix(f[1], from) && strings.HasSuffix(f[2], to) && f[9] != "0" {
				return f[9]
			}
		}
	}
	return ""
}

// findOwner returns the process that has a file open; 0 for no process. file is the file's name in
// /proc.
func findOwner(file string) int {
	all, _ := filepath.Glob("/proc/[0-9]*/fd")
	for _, dir := range all {
		entries, _ := os.ReadDir(dir) // an error is ignored: it means a process of another user, whose files cannot be read
		for _, e := range entries {
			if to, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil && to == file {
				pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
				return pid
			}
		}
	}
	return 0
}
