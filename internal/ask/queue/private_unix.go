//go:build unix

package queue

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const noFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK

// keepPrivate returns an error if another user owns the path or may write to it. If other users may
// read the path, keepPrivate removes their access.
func keepPrivate(path string, info fs.FileInfo, mode fs.FileMode) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("%q: its owner is unknown", path)
	}
	if uid := os.Geteuid(); int(st.Uid) != uid {
		return fmt.Errorf("%q belongs to another user (uid %d, not %d); move it away", path, st.Uid, uid)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%q can be written by other users (mode %04o); see whether they did, then run: chmod %o %q",
			path, info.Mode().Perm(), mode, path)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return os.Chmod(path, mode)
	}
	return nil
}
