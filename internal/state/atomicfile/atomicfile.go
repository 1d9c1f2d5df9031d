// Package atomicfile replaces the whole content of a file or leaves the file unchanged: a reader
// sees the old bytes or the new bytes, even after a crash. The package must never leave half a
// file, replace a symlink instead of its target, or loosen a file's mode.
//
// Extended attributes, ACLs and other hard links of the old file are lost.
package atomicfile

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrChanged means that the file no longer has the content that the caller read. Nothing was
// written.
var ErrChanged = errors.New("the file was changed by someone else meanwhile")

// Options are the options of Write.
type Options struct {
	// Mode is the mode of a new file (0 means 0600), regardless of the umask. An existing file
	// keeps its mode and owner.
	Mode fs.FileMode
	// Old is the content that the caller has read from the file; nil for no check. If the file has
	// other content or is missing, Write returns ErrChanged. The check is made directly before the
	// rename. Writers that must exclude each other need a lock as well.
	Old []byte
}

// Write replaces the content of the file at path, or of the file that a symlink at path leads to.
// On an error the file keeps the old bytes, except for two errors after the rename: a directory
// that cannot be synced, and a failed read-back.
func Write(path string, data []byte, o Options) error {
	return WriteFrom(path, func(to io.Writer) error {
		_, err := to.Write(data)
		return err
	}, o)
}

// WriteFrom is like Write, but calls the function in the parameter write, which writes the content.
// So the content need not be in memory as a whole.
func WriteFrom(path string, write func(io.Writer) error, o Options) error {
	target, old, err := resolveTarget(path)
	if err != nil {
		return err
	}
	sum := sha256.New()
	tmp, err := fillTemp(target, func(f io.Writer) error { return write(io.MultiWriter(f, sum)) }, old, o.Mode)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() { _ = os.Remove(tmp) }() // an error is ignored: after a rename the temporary file does not exist
	if o.Old != nil {
		now, err := os.ReadFile(target)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Equal(now, o.Old) {
			return fmt.Errorf("write %s: %w", path, ErrChanged)
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
	}
	if err := replaceFile(tmp, target); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := syncDir(filepath.Dir(target)); err != nil {
		return fmt.Errorf("write %s: sync its directory: %w", path, err)
	}
	if err := readBack(target, sum.Sum(nil)); err != nil {
		return fmt.Errorf("write %s: read it back: %w", path, err)
	}
	return nil
}

// readBack compares the file's content with the SHA-256 of the written data.
func readBack(target string, sum []byte) error {
	f, err := os.Open(target)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	back := sha256.New()
	if _, err := io.Copy(back, f); err != nil {
		return err
	}
	if !bytes.Equal(back.Sum(nil), sum) {
		return errors.New("other bytes than were written")
	}
	return nil
}

// resolveTarget returns the regular file that path leads to; info is nil if that file does not
// exist yet.
func resolveTarget(path string) (target string, info fs.FileInfo, err error) {
	target, err = filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, lerr := os.Lstat(path); lerr == nil {
			return "", nil, fmt.Errorf("write %s: it is a symlink to a file that does not exist", path)
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return "", nil, fmt.Errorf("write %s: %w", path, err)
		}
		return filepath.Join(dir, filepath.Base(path)), nil, nil
	}
	if err != nil {
		return "", nil, fmt.Errorf("write %s: %w", path, err)
	}
	info, err = os.Lstat(target)
	if err != nil {
		return "", nil, fmt.Errorf("write %s: %w", path, err)
	}
	if !info.Mode().IsRegular() {
		return "", nil, fmt.Errorf("write %s: not a regular file (%s)", path, info.Mode().Type())
	}
	return target, info, nil
}

// fillTemp writes the complete content into a new file in the folder of the target file, syncs it
// to disk, and returns its name. On an error it leaves no file.
func fillTemp(target string, write func(io.Writer) error, old fs.FileInfo, mode fs.FileMode) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*.tmp")
	if err != nil {
		return "", err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if mode == 0 {
		mode = 0o600
	}
	if old != nil {
		mode = old.Mode()
		if err := keepOwner(f, old); err != nil {
			return "", fmt.Errorf("keep its owner: %w", err)
		}
	}
	// Set the mode after the owner, because chown may clear mode bits. Set it before the content is
	// written, so that the content is never readable under a looser mode.
	if err := f.Chmod(mode.Perm()); err != nil {
		return "", err
	}
	if err := write(f); err != nil {
		return "", err
	}
	return f.Name(), f.Sync()
}
