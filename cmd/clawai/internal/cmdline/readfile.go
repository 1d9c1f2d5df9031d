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

// ReadFile reads the file that a call would change, at a path that an attacker chose: it is
// view.Options.ReadFile for the machine's own disk.
//
// It opens only regular files, never blocks, follows no link in the last part of the path,
// reads nothing from procfs and similar file systems, and stops after view.MaxFile bytes. It
// must never write, create or change the file. It follows links above the last part, as the
// server would; a network file system that hangs can still block a read. Its errors are
// view.ErrTooLarge, fs.ErrNotExist, and others, all to be shown.
func ReadFile(name string) ([]byte, error) {
	// On Windows a path that begins with two slashes would log in to the named host.
	if !filepath.IsAbs(name) || strings.HasPrefix(name, `\\`) || strings.HasPrefix(name, "//") {
		return nil, errNotRegular
	}
	// Opening a device can act on it, so check before opening.
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

// ReadNamed reads a file that a person names, up to most bytes: a regular file, or a link to
// one. It refuses devices and pipes, which may have no end or wait for another process.
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

// readRegular reads the regular file that seen describes.
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

// ReadAtMost reads r to its end; it returns an error when r has more than most bytes.
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

// checkSameFile returns an error unless f is the file that seen describes, is regular, and is
// on a disk.
func checkSameFile(f *os.File, seen fs.FileInfo) error {
	now, err := f.Stat()
	if err != nil {
		return err
	}
	if !now.Mode().IsRegular() || !os.SameFile(now, seen) {
		return errNotRegular
	}
	return checkFilesystem(f)
}
