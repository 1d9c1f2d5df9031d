// Package confine builds a cage around its own process and then replaces the process by a server.
// The program clawai-sandbox uses this package for servers. internal/cage reads the policy and
// examines the disk, so this package needs no policy.
package confine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Format is the version of the form of Spec. A helper refuses a Spec with another Format.
const Format = 2

// Spec is a cage as the helper builds it. Every path is absolute, exists, and has no links in it.
type Spec struct {
	Format  int      `json:"format"`
	Enforce bool     `json:"enforce"` // if a step fails, the server is not started; otherwise the failure is only reported
	Own     bool     `json:"own"`     // the helper was started in its own namespaces
	Network bool     `json:"network"` // the server uses the network of the machine
	Hosts   bool     `json:"hosts"`   // the helper makes sockets for a proxy, which knows the allowed hosts
	Forks   bool     `json:"forks"`   // the server may start programs
	Program string   `json:"program"` // path of the program that replaces the helper
	Read    []string `json:"read"`    // places that may be read, in addition to System
	Write   []string `json:"write"`   // places that may be read and written
	Hide    []string `json:"hide"`    // places in Read, Write or System that look empty to the server
	Fixed   []string `json:"fixed"`   // places in Write that the server may only read
	Env     []string `json:"env"`     // the names of the variables that the server gets
	Doors   []Door   `json:"doors"`   // ways to hosts for programs that cannot use the proxy
	// Back are folders inside hidden places. The server may read them anyway.
	Back []string `json:"back,omitempty"`
	// Layered means that internal/cage/preview has already made the mounts: every write goes into
	// layers that are discarded.
	Layered bool      `json:"layered,omitempty"`
	Keep    []uintptr `json:"keep,omitempty"` // the capabilities that the program keeps
}

// Door is a place in the server's own network that leads to a host.
type Door struct {
	Name    string `json:"name"`    // programs in the cage resolve this name to Address; "" for a door without a name
	Address string `json:"address"` // an address in 127.0.0.0/8
	Port    uint16 `json:"port"`
}

// Report is the message of a helper about the cage. The helper sends it before the server runs.
type Report struct {
	Holds  []string `json:"holds,omitempty"`  // texts about the restrictions in force, for people
	Weaker []string `json:"weaker,omitempty"` // restrictions that could not be made
	Fault  string   `json:"fault,omitempty"`  // why no server was started
	Code   int      `json:"code,omitempty"`   // the exit code for Fault
}

// EncodeSpec encodes a Spec as one argument. File names may hold any bytes, but JSON holds only UTF-8
// text. So each byte that is not part of valid UTF-8, and each %, is written as % and two digits.
func EncodeSpec(s *Spec) (string, error) {
	one := s.withPaths(escapePath)
	one.Format = Format
	text, err := json.Marshal(one)
	return string(text), err
}

// withPaths returns a copy of the Spec in which the given function was applied to every path.
func (s *Spec) withPaths(change func(string) string) Spec {
	one := *s
	one.Program = change(s.Program)
	for _, list := range []*[]string{&one.Read, &one.Write, &one.Hide, &one.Fixed, &one.Back} {
		*list = slices.Clone(*list)
		for i, path := range *list {
			(*list)[i] = change(path)
		}
	}
	return one
}

func escapePath(path string) string {
	var b strings.Builder
	for at, r := range path {
		_, size := utf8.DecodeRuneInString(path[at:])
		if r == '%' || r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, "%%%02x", path[at])
		} else {
			b.WriteString(path[at : at+size])
		}
	}
	return b.String()
}

// readPath is the inverse of escapePath.
func readPath(text string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "%")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		one, err := strconv.ParseUint(after[:min(2, len(after))], 16, 8)
		if err != nil || len(after) < 2 {
			return b.String() + "%" + after
		}
		b.WriteByte(byte(one))
		text = after[2:]
	}
}

// parseSpec parses a Spec. An unknown member is an error, because it may demand a restriction.
func parseSpec(text string) (s Spec, err error) {
	from := json.NewDecoder(bytes.NewReader([]byte(text)))
	from.DisallowUnknownFields()
	switch err = from.Decode(&s); {
	case err != nil:
		return s, fmt.Errorf("cannot read the cage: %w", err)
	case s.Format != Format:
		return s, fmt.Errorf("the cage is of format %d, and this program knows %d: install clawai and clawai-sandbox of one version", s.Format, Format)
	case s.Program == "":
		return s, errors.New("the cage names no program")
	}
	return s.withPaths(readPath), nil
}

// ExitFault is the exit code of a helper that could not build the cage and so started no server.
const ExitFault = 125

// ReportFD is the descriptor on which a helper reports. The server does not get it.
const ReportFD = 3

// HostsFD is the descriptor of a unix socket; it is open only if Spec.Hosts is set. The helper
// sends listening sockets over it: one for the proxy, and one for each door. The server has no
// other way out, and does not get this descriptor.
const HostsFD = 4

// TempFolder is the folder for temporary files. Each cage has its own.
const TempFolder = "/dev/shm"

// System lists files and folders of the system that every server may read, because programs need
// them. Of /etc it lists only files that hold no secret.
var System = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/gnu/store", "/snap",
	"/proc", "/sys/fs/cgroup", "/sys/devices/system/cpu",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf",
	"/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/gai.conf", "/etc/protocols", "/etc/services", "/etc/hostname",
	"/etc/localtime", "/etc/timezone", "/etc/locale.alias", "/etc/locale.conf", "/etc/os-release", "/etc/mime.types",
	"/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ssl/cert.pem", "/etc/ca-certificates", "/etc/ca-certificates.conf", "/etc/pki/tls/certs", "/etc/pki/ca-trust",
	"/etc/pki/tls/openssl.cnf", "/etc/crypto-policies", "/etc/fonts", "/etc/magic", "/etc/gitconfig",
}
