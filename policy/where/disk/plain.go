package disk

import (
	"io/fs"
	"os"
)

// PlainDisk gives a disk without links, for analyses that must say the same on every
// machine: every absolute path of POSIX is its own place. Nothing is on it but the root, so it is no disk to judge real
// calls with.
func PlainDisk() Disk { return plain{} }

type plain struct{}

// Lstat takes the root of this machine for the root: every machine has one, and
// what is compared by identity needs one that is the same as itself.
func (plain) Lstat(path string) (fs.FileInfo, error) {
	if path == "/" {
		return os.Lstat("/")
	}
	return nil, fs.ErrNotExist
}

func (plain) Readlink(string) (string, error) { return "", fs.ErrNotExist }

func (plain) posix() {}
