package disk

import (
	"io/fs"
	"os"
)

// PlainDisk returns a disk without links, for analyses that must give the same result
// on every machine: every absolute POSIX path is its own place. Only the root exists
// on this disk, so do not judge real calls with it.
func PlainDisk() Disk { return plain{} }

type plain struct{}

// Lstat returns an entry only for the path /: the root directory of this machine. Every machine has
// a root, and the comparison by identity needs a root that is the same file each time.
func (plain) Lstat(path string) (fs.FileInfo, error) {
	if path == "/" {
		return os.Lstat("/")
	}
	return nil, fs.ErrNotExist
}

func (plain) Readlink(string) (string, error) { return "", fs.ErrNotExist }

func (plain) posix() {}
