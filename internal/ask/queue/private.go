package queue

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// privateFolder makes the folder when it is missing. One that other users own
// or can write is refused, as is a symbolic link: whoever can change it could
// answer in our name. One that they can only read is closed to them.
func privateFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%q is no folder (%s); move it away", dir, kindOf(info))
	}
	return keepPrivate(dir, info, 0o700)
}

// privateFile does the same for a file, which is made when it is missing and
// wanted. It is never opened: SQLite's locks belong to the process, and closing
// any descriptor of the file would drop them.
func privateFile(path string, wanted bool) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) && wanted {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|noFollow, 0o600)
		if err == nil {
			return f.Close()
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		info, err = os.Lstat(path)
		if err != nil {
			return err
		}
	} else if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%q is no regular file (%s); move it away", path, kindOf(info))
	}
	return keepPrivate(path, info, 0o600)
}

func kindOf(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode.IsDir():
		return "a folder"
	case mode.IsRegular():
		return "a file"
	}
	return "mode " + info.Mode().String()
}
