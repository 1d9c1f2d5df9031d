package main

import (
	"errors"
	"io"
	"os"

	"github.com/clawai/clawai/internal/approve/view"
)

var errNoFile = errors.New("it is no regular file")

// readShown reads a file that a question would change, for view.Options.ReadFile.
// An attacker chooses the path: nothing but a regular file is read, no link in its
// last name is followed, and a pipe is not waited for.
func readShown(path string) ([]byte, error) {
	// What is no file is not even opened: a device may act on that.
	if info, err := os.Lstat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errNoFile
	}
	f, err := os.OpenFile(path, os.O_RDONLY|neverFollow, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errNoFile // exchanged since it was looked at
	}
	b, err := io.ReadAll(io.LimitReader(f, view.MaxFile+1))
	if err == nil && len(b) > view.MaxFile {
		return nil, view.ErrTooLarge
	}
	return b, err
}
