//go:build unix

package access

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// CheckOpen refuses a file or folder that belongs to somebody else or that somebody
// else can open, to read or to write. Entries of an
// ACL of POSIX show in the bits of the group; those of macOS' own do not show.
func CheckOpen(path string, fi fs.FileInfo) error {
	if _, err := checkOwner(path, fi, "can open it"); err != nil {
		return err
	}
	if mode := fi.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("%s is refused: others can open it (mode %04o); run: chmod go-rwx %s", path, mode, strconv.Quote(path))
	}
	return nil
}

// CheckChange refuses a file or folder that somebody other than us and root can write.
// ACL entries show too: the group bits are then the most that any of them grants. A
// group that holds only us may write.
func CheckChange(path string, fi fs.FileInfo) error {
	st, err := checkOwner(path, fi, "could change it")
	if err != nil {
		return err
	}
	mode := fi.Mode()
	switch {
	case mode&fs.ModeSymlink != 0: // a link has no mode of its own
	case mode.IsDir() && mode&fs.ModeSticky != 0:
	case mode.Perm()&0o022 == 0:
	case mode.Perm()&0o002 == 0 && privateGroup(path, st.Gid):
	default:
		return fmt.Errorf("%s is refused: other users can write it (mode %04o); run: chmod go-w %s",
			path, mode.Perm(), strconv.Quote(path))
	}
	return nil
}

// checkOwner refuses what belongs to somebody other than us and root.
func checkOwner(path string, fi fs.FileInfo, who string) (*syscall.Stat_t, error) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, fmt.Errorf("%s is refused: its owner cannot be read", path)
	}
	if me := os.Geteuid(); st.Uid != 0 && int(st.Uid) != me {
		return nil, fmt.Errorf("%s is refused: it belongs to another user (uid %d), who %s; run: chown %d %s",
			path, st.Uid, who, me, strconv.Quote(path))
	}
	return st, nil
}
