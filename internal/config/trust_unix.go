//go:build unix

package config

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// checkOwner refuses what somebody other than us and root can write. ACL entries
// show too: the group bits are then the most that any of them grants. A group
// that holds only us may write.
func checkOwner(path string, info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("%s: its owner cannot be read", path)
	}
	if me := os.Geteuid(); st.Uid != 0 && int(st.Uid) != me {
		return fmt.Errorf("%s is refused: it belongs to another user (uid %d), who could change it; run: chown %d %s",
			path, st.Uid, me, strconv.Quote(path))
	}
	mode := info.Mode()
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

// openFlags: a link put in the file's place is not followed, and a FIFO does
// not block.
const openFlags = os.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_CLOEXEC

// lookFlags are those for a file that may be anybody's, and a link.
const lookFlags = openFlags &^ syscall.O_NOFOLLOW
