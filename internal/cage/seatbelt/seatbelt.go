// Package seatbelt writes a cage as a profile of Seatbelt, the sandbox of macOS. The package is
// pure. The developers have never run these profiles, because clawai is not tested on macOS.
package seatbelt

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/cage/confine"
)

// system are the folders and files of macOS that every server may read.
var system = []string{
	"/System", "/usr", "/bin", "/sbin", "/Library/Apple", "/Library/Frameworks", "/Library/Developer/CommandLineTools", "/opt", "/nix/store",
	"/private/etc/hosts", "/private/etc/resolv.conf", "/private/etc/localtime", "/private/etc/passwd", "/private/etc/group", "/private/etc/protocols",
	"/private/etc/services", "/private/etc/ssl", "/private/var/db/timezone", "/private/var/select", "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/dtracehelper",
}

// Profile returns the profile for a cage. temp is the server's folder for temporary files. If the cage
// lists hosts, the server gets no network, because there is no proxy on macOS. A later line of a
// profile overrides an earlier one.
func Profile(s *confine.Spec, temp string) (string, error) {
	w := &writer{}
	w.line("(version 1)")
	w.line("(deny default)")
	w.line("(allow sysctl-read)")
	w.line("(allow signal (target same-sandbox))")
	w.line("(allow process-info* (target same-sandbox))")
	w.line(`(allow file-read-metadata)`)
	w.line(`(allow file-read* (literal "/"))`)
	w.places("allow file-read*", system)
	w.places("allow file-read*", s.Read)
	w.places("allow file-read* file-write*", s.Write)
	w.places("allow file-read* file-write*", []string{temp})
	w.line(`(allow file-write-data (literal "/dev/null"))`)
	w.places("deny file-write*", s.Fixed)
	w.places("deny file-read* file-write*", s.Hide)
	w.line("(allow process-exec)")
	if s.Forks {
		w.line("(allow process-fork)")
	}
	if s.Network {
		w.line("(allow network-outbound (remote ip))")
		w.line("(allow network-inbound (local ip))")
		w.line(`(allow mach-lookup (global-name "com.apple.dnssd.service"))`)
	}
	return w.text.String(), w.err
}

// writer writes a profile and keeps the first error.
type writer struct {
	text strings.Builder
	err  error
}

func (w *writer) line(text string) { w.text.WriteString(text + "\n") }

// places writes a rule about files, and about folders with everything in them.
func (w *writer) places(rule string, paths []string) {
	for _, path := range paths {
		quoted, err := Quote(path)
		if err != nil {
			w.err = err
			return
		}
		w.line(fmt.Sprintf("(%s (subpath %s))", rule, quoted))
	}
}

// Quote returns a path as a string of a profile. Only backslash and double quote need an escape. Quote
// refuses control characters, because it is not known how Seatbelt reads them.
func Quote(path string) (string, error) {
	if !strings.HasPrefix(path, "/") || !utf8.ValidString(path) || strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", fmt.Errorf("%q cannot be a place of a sandbox on macOS", path)
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`, nil
}
