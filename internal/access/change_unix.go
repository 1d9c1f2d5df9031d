//go:build unix

package access

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// CheckChange refuses a file or folder that somebody other than us and root can write.
// ACL entries show too: the group bits are then the most that any of them grants. A
// group that holds only us may write.
func CheckChange(path string, fi fs.FileInfo) error {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("%s: its owner cannot be read", path)
	}
	if me := os.Geteuid(); st.Uid != 0 && int(st.Uid) != me {
		return fmt.Errorf("%s is refused: it belongs to another user (uid %d), who could change it; run: chown %d %s",
			path, st.Uid, me, strconv.Quote(path))
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
