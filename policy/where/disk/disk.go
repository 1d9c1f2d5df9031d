package disk

import (
	"errors"
	"io/fs"
	"os"
)

// Disk holds the file system calls that under needs. Paths are absolute and contain no link: the
// package resolves links itself.
type Disk interface {
	// Lstat describes the entry itself, even if it is a link. If the error is not fs.ErrNotExist,
	// the constraint under matches only with Maybe.
	Lstat(path string) (fs.FileInfo, error)
	// Readlink returns the target of a link as it is written.
	Readlink(path string) (string, error)
}

// SystemDisk returns the disk of this machine.
func SystemDisk() Disk { return system{} }

type system struct{}

func (system) Lstat(path string) (fs.FileInfo, error) { return os.Lstat(path) }
func (system) Readlink(path string) (string, error)   { return os.Readlink(path) }

// RootedDisk returns the tree below a directory as a disk whose root is that directory: absolute
// paths and absolute links begin there, and no path leads out. If the directory cannot be opened,
// the constraint under matches only with Maybe. Names are POSIX names on every system. The
// directory is open only while the disk answers, because Windows does not remove an open directory.
func RootedDisk(dir string) Disk { return rooted(dir) }

type rooted string

func (r rooted) open() (*os.Root, error) {
	root, err := os.OpenRoot(string(r))
	if err != nil {
		// Not wrapped, because a wrapped fs.ErrNotExist would mean that the file is missing.
		return nil, errors.New("no root: " + err.Error())
	}
	return root, nil
}

func (r rooted) Lstat(path string) (fs.FileInfo, error) {
	root, err := r.open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return root.Lstat("." + path)
}

func (r rooted) Readlink(path string) (string, error) {
	root, err := r.open()
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }()
	return root.Readlink("." + path)
}

// posix marks disks that use POSIX paths on every system.
func (rooted) posix() {}
