package confine

import (
	"errors"
	"fmt"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// devices are the devices that a program may read and write, because they contain no data.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// Each constant is the first version of Landlock's ABI with that restriction.
const (
	abiRefer    = 2 // earlier versions forbid every move between folders
	abiTruncate = 3
	abiScopes   = 6 // for signals to processes outside the cage, and for abstract sockets
)

// landlockVersion asks the kernel for its version of Landlock's ABI.
var landlockVersion = ll.LandlockGetABIVersion

// restrictFiles allows access to the places of the cage, and forbids access to all other files. It
// also stops the server from tracing processes outside the cage or sending them signals.
func restrictFiles(h *helper) error {
	abi, err := landlockVersion()
	if err != nil || abi == 0 {
		return errors.New("this system has no Landlock, so every file of yours is open")
	}
	if abi < abiTruncate {
		if err := h.lack(fmt.Sprintf("files: Landlock %d cannot keep files from being emptied", abi)); err != nil {
			return err
		}
	}
	if abi < abiScopes {
		if err := h.lack(fmt.Sprintf("files: Landlock %d lets it end your other programs", abi)); err != nil {
			return err
		}
	}
	c := landlock.V9 // the versions after 9 only add restrictions of the network, which other steps restrict
	c.HandledAccessNet = 0
	rules, flags, err := c.BestEffort().NewRulesetFD(h.fileRules(abi)...)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(rules) }()
	_ = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) // an error is ignored here, because then the next call fails
	// Only this thread becomes the server, so only this thread is restricted. To restrict the other
	// threads, clawai would have to send each a signal and wait.
	if err := ll.LandlockRestrictSelf(rules, flags); err != nil {
		return err
	}
	h.hold("files: Landlock %d", abi)
	return nil
}

func (h *helper) fileRules(abi int) (rules []landlock.Rule) {
	writable := func(r landlock.FSRule) landlock.FSRule {
		if abi >= abiRefer {
			return r.WithRefer()
		}
		return r
	}
	for _, path := range append(append([]string{}, System...), h.spec.Read...) {
		if isFolder(path) {
			rules = append(rules, landlock.RODirs(path).IgnoreIfMissing())
		} else {
			rules = append(rules, landlock.ROFiles(path).IgnoreIfMissing())
		}
	}
	for _, path := range h.spec.Write {
		if isFolder(path) {
			rules = append(rules, writable(landlock.RWDirs(path)))
		} else {
			rules = append(rules, landlock.RWFiles(path))
		}
	}
	if h.mounts {
		rules = append(rules, writable(landlock.RWDirs(TempFolder)))
	}
	return append(rules, landlock.RWFiles(devices...).IgnoreIfMissing())
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
