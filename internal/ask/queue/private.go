package queue

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// privateFolder creates the folder if it is missing. It refuses a symbolic link and a folder that
// other users own or can write, because such users could answer in the owner's name. If other users
// can read the folder, privateFolder removes their access.
func privateFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%q is not a folder (%s); move it away", dir, kindOf(info))
	}
	return keepPrivate(dir, info, 0o700)
}

// privateFile checks a file as privateFolder checks a folder. If wanted is true, it creates a
// missing file. It never opens an existing file: if a process closes any descriptor of a file, it
// loses all SQLite locks on that file.
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
		return fmt.Errorf("%q is not a regular file (%s); move it away", path, kindOf(info))
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
