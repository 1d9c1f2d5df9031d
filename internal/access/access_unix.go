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
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("%s is refused: its owner cannot be read", path)
	}
	if me := os.Geteuid(); st.Uid != 0 && int(st.Uid) != me {
		return fmt.Errorf("%s is refused: it belongs to another user (uid %d), who can open it; run: chown %d %s",
			path, st.Uid, me, strconv.Quote(path))
	}
	if mode := fi.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("%s is refused: others can open it (mode %04o); run: chmod go-rwx %s", path, mode, strconv.Quote(path))
	}
	return nil
}
