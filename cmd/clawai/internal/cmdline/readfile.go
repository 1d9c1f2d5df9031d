package cmdline

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/clawai/clawai/internal/ask/view"
)

var errNotRegular = errors.New("not a regular file")

// ReadFile reads the file a call would change, at a path an attacker chose:
// view.Options.ReadFile for the machine's own disk.
//
// It opens regular files only, waits for nothing, follows no link in the last
// part of the path, reads nothing of procfs and its like, and stops after
// view.MaxFile bytes. It must never write, create, or change what it looks at.
// Links above the last part are followed, as the server would; a network file
// system that hangs can still hang a read. Its errors are view.ErrTooLarge,
// fs.ErrNotExist, and others, all to be shown.
func ReadFile(name string) ([]byte, error) {
	// On Windows a path of two slashes would log in to the host it names.
	if !filepath.IsAbs(name) || strings.HasPrefix(name, `\\`) || strings.HasPrefix(name, "//") {
		return nil, errNotRegular
	}
	// Opening a device can act on it, so that is not tried.
	seen, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.Mode().IsRegular() {
		return nil, errNotRegular
	}
	b, err := readRegular(name, seen, view.MaxFile)
	if errors.Is(err, errTooLarge) {
		err = view.ErrTooLarge
	}
	return b, err
}

// ReadNamed reads the file that a person names, of at most so many bytes: a regular file, or a
// link to one. What never ends, or is written by somebody else meanwhile, is not waited for.
func ReadNamed(name string, most int64) ([]byte, error) {
	name, err := filepath.EvalSymlinks(name)
	if err != nil {
		return nil, err
	}
	seen, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.Mode().IsRegular() {
		return nil, errNotRegular
	}
	return readRegular(name, seen, most)
}

var errTooLarge = errors.New("too large")

// readRegular reads the regular file that was seen.
func readRegular(name string, seen fs.FileInfo, most int64) ([]byte, error) {
	f, err := openFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := checkSameFile(f, seen); err != nil {
		return nil, err
	}
	return ReadAtMost(f, most)
}

// ReadAtMost reads what is there, of at most so many bytes.
func ReadAtMost(r io.Reader, most int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(b)) > most {
		err = errTooLarge
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// checkSameFile gives an error unless f is the file that was seen, is regular, and lies on a disk.
func checkSameFile(f *os.File, seen fs.FileInfo) error {
	now, err := f.Stat()
	if err != nil {
		return err
	}
	if !now.Mode().IsRegular() || !os.SameFile(now, seen) {
		return errNotRegular
	}
	return onDisk(f)
}
