package disk

import (
	"errors"
	"io/fs"
	"os"
)

// Disk is what under asks of a file system. Paths are absolute and lead through
// no link: the walk resolves them itself.
type Disk interface {
	// Lstat describes the entry itself, a link too. An error that is not
	// fs.ErrNotExist makes the answer a maybe.
	Lstat(path string) (fs.FileInfo, error)
	// Readlink gives the target of a link as it is written.
	Readlink(path string) (string, error)
}

// SystemDisk gives the disk of this machine.
func SystemDisk() Disk { return system{} }

type system struct{}

func (system) Lstat(path string) (fs.FileInfo, error) { return os.Lstat(path) }
func (system) Readlink(path string) (string, error)   { return os.Readlink(path) }

// RootedDisk gives the tree below a directory, read as if that were the root: absolute
// paths and absolute links begin there, and nothing leads out. A directory that cannot be opened makes every answer a maybe. Names
// are those of POSIX, on every system.
func RootedDisk(dir string) Disk {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return rooted{err: errors.New("no root: " + err.Error())}
	}
	return rooted{root: root}
}

type rooted struct {
	root *os.Root
	err  error
}

func (r rooted) Lstat(path string) (fs.FileInfo, error) {
	if r.err != nil {
		return nil, r.err
	}
	return r.root.Lstat("." + path)
}

func (r rooted) Readlink(path string) (string, error) {
	if r.err != nil {
		return "", r.err
	}
	return r.root.Readlink("." + path)
}

// posix marks disks whose paths are POSIX's wherever this runs.
func (rooted) posix() {}
