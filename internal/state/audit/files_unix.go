//go:build unix

package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// With openFlags, an open does not follow a symlink and does not wait at a FIFO. Go adds O_CLOEXEC,
// so that child processes do not inherit the file.
const openFlags = unix.O_NOFOLLOW | unix.O_NONBLOCK

// tryLock takes the lock on f, or returns false if another process has it.
func tryLock(f *os.File, shared bool) (bool, error) {
	flags := unix.LOCK_EX | unix.LOCK_NB
	if shared {
		flags = unix.LOCK_SH | unix.LOCK_NB
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return false, err
	}
	var lockErr error
	err = raw.Control(func(fd uintptr) {
		for {
			if lockErr = unix.Flock(int(fd), flags); !errors.Is(lockErr, unix.EINTR) {
				return
			}
		}
	})
	if errors.Is(lockErr, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil && lockErr == nil, errors.Join(err, lockErr)
}

// unlockFile releases the lock on f, which stays open.
func unlockFile(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var lockErr error
	err = raw.Control(func(fd uintptr) { lockErr = unix.Flock(int(fd), unix.LOCK_UN) })
	return errors.Join(err, lockErr)
}

// isSpoiled reports whether a file was removed or is shorter than size. In both cases the lines
// written to it are lost for readers.
func isSpoiled(f *os.File, size int64) bool {
	var st unix.Stat_t
	return unix.Fstat(int(f.Fd()), &st) == nil && (st.Nlink == 0 || st.Size < size)
}

// fileNode returns the inode number of a file. A copy of the file has a different number.
func fileNode(fi fs.FileInfo) uint64 {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return st.Ino & math.MaxInt64
}

// checkPrivate returns an error for a file or folder that another user owns or may write.
func checkPrivate(path string, fi fs.FileInfo) error {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("%q: its owner is unknown", path)
	}
	if uid := os.Geteuid(); int(st.Uid) != uid && st.Uid != 0 {
		return fmt.Errorf("%q belongs to another user (uid %d, not %d)", path, st.Uid, uid)
	}
	if fi.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%q can be written by other users (mode %04o); run: chmod go-w %q", path, fi.Mode().Perm(), path)
	}
	return nil
}
