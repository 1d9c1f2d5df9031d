// Package traced reads the output of strace for a server: which files the server opened and
// changed, and to which addresses it connected. It skips system calls that failed, except
// connections to hosts. The package does no I/O.
package traced

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Calls are the system calls that strace must record.
const Calls = "open,openat,openat2,creat,mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat,rmdir,truncate,link,linkat,symlink,symlinkat,connect"

// Seen holds the files and addresses that a program used. The lists are sorted.
type Seen struct {
	Read    []string // files and folders that the program opened for reading
	Written []string // files and folders that the program wrote, made or removed
	Hosts   []string // addresses with ports to which the program connected
	Sockets []string // paths of unix sockets to which the program connected
}

// The expressions are compiled at their first use, because most commands do not need them.
var expressions = sync.OnceValue(func() (of struct{ call, quoted, address *regexp.Regexp }) {
	of.call = regexp.MustCompile(`^(?:\d+ +)?(\w+)\((.*)\) += (-?\d+)(?: (E\w+))?`)
	of.quoted = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)
	of.address = regexp.MustCompile(`sin6?_port=htons\((\d+)\).*?(?:inet_addr\("|inet_pton\(AF_INET6, ")([0-9a-fA-F.:]+)"`)
	return of
})

// Read reads the output of strace. dir is the folder in which the program started.
func Read(text, dir string) Seen {
	var s Seen
	for line := range strings.Lines(text) {
		m := expressions().call.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		worked := !strings.HasPrefix(m[3], "-")
		if m[1] == "connect" {
			s.addConnect(m[2], worked || m[4] == "EINPROGRESS")
			continue
		}
		if !worked {
			continue
		}
		for _, q := range expressions().quoted.FindAllStringSubmatch(m[2], -1) {
			path, err := strconv.Unquote(`"` + q[1] + `"`)
			if err != nil || path == "" {
				continue
			}
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			if changesFile(m[1], m[2]) {
				s.Written = append(s.Written, filepath.Clean(path))
			} else {
				s.Read = append(s.Read, filepath.Clean(path))
			}
		}
	}
	for _, list := range []*[]string{&s.Read, &s.Written, &s.Hosts, &s.Sockets} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return s
}

// changesFile reports whether a system call changes a file.
func changesFile(name, arguments string) bool {
	return !strings.HasPrefix(name, "open") || strings.Contains(arguments, "O_WRONLY") || strings.Contains(arguments, "O_RDWR") || strings.Contains(arguments, "O_CREAT")
}

func (s *Seen) addConnect(arguments string, worked bool) {
	if m := expressions().address.FindStringSubmatch(arguments); m != nil {
		host := m[2]
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		s.Hosts = append(s.Hosts, host+":"+m[1]) // also after a failure, because the program needs this host
		return
	}
	if m := expressions().quoted.FindStringSubmatch(arguments); m != nil && worked {
		s.Sockets = append(s.Sockets, m[1])
	}
}
