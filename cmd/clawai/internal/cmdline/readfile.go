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

// ReadFile reads the file that a call would change. It is view.Options.ReadFile for the disk of
// this machine. An attacker may have chosen the path.
//
// ReadFile opens only regular files, and opens them without waiting (O_NONBLOCK). It follows no
// link in the last part of the path, reads nothing from procfs and similar file systems, and stops
// after view.MaxFile bytes. It must never write, create or change the file. It follows links in the
// other parts of the path, as the server would. A network file system that hangs can still block a
// read. The errors are view.ErrTooLarge, fs.ErrNotExist and others, and the caller shows all of
// them.
func ReadFile(name string) ([]byte, error) {
	// On Windows a path that begins with two slashes names another host, and clawai would log in
	// there.
	if !filepath.IsAbs(name) || strings.HasPrefix(name, `\\`) || strings.HasPrefix(name, "//") {
		return nil, errNotRegular
	}
	// The check is before the open, because opening a device can already have effects.
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

// ReadNamed reads a file that a person names. The parameter most is the maximum number of bytes;
// for a larger file ReadNamed returns an error. The file is a regular file, or a link to one.
// ReadNamed refuses devices and pipes, because they may have no end or wait for another process.
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

// readRegular reads a regular file. The parameter most is the maximum number of bytes. The
// parameter seen is the result of Lstat for that file.
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

// ReadAtMost reads r to its end. The parameter most is the maximum number of bytes. It returns an
// error if r has more bytes.
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

// checkSameFile returns an error in three cases: f is not the file that the parameter seen
// describes, f is not a regular file, or f is not on a disk.
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
