//go:build unix

package access

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// CheckOpen returns an error for a file or folder that belongs to another user or that another user
// can open, to read or to write. It notices entries of POSIX ACLs, because they appear in the group
// bits. It does not notice entries of macOS ACLs.
func CheckOpen(path string, fi fs.FileInfo) error {
	if _, err := checkOwner(path, fi, "can open it"); err != nil {
		return err
	}
	if mode := fi.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("%s is refused: others can open it (mode %04o); run: chmod go-rwx %s", path, mode, strconv.Quote(path))
	}
	return nil
}

// CheckChange returns an error for a file or folder that somebody other than us and root can write.
// It also notices entries of POSIX ACLs, because no entry grants more than the group bits. A group
// may write if we are its only member.
func CheckChange(path string, fi fs.FileInfo) error {
	st, err := checkOwner(path, fi, "could change it")
	if err != nil {
		return err
	}
	mode := fi.Mode()
	switch {
	case mode&fs.ModeSymlink != 0: // the mode of a link means nothing
	case mode.IsDir() && mode&fs.ModeSticky != 0:
	case mode.Perm()&0o022 == 0:
	case mode.Perm()&0o002 == 0 && privateGroup(path, st.Gid):
	default:
		return fmt.Errorf("%s is refused: other users can write it (mode %04o); run: chmod go-w %s",
			path, mode.Perm(), strconv.Quote(path))
	}
	return nil
}

// checkOwner returns an error for a file that belongs to somebody other than us and root. The
// parameter who is the rest of the error text "it belongs to another user, who ...".
func checkOwner(path string, fi fs.FileInfo, who string) (*syscall.Stat_t, error) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, fmt.Errorf("%s is refused: its owner cannot be read", path)
	}
	if me := os.Geteuid(); st.Uid != 0 && int(st.Uid) != me {
		next := fmt.Sprintf("run: chown %d %s", me, strconv.Quote(path))
		if me == 0 { // advise root against chown, because a service could then not open its own file
			next = fmt.Sprintf("run the command as that user: runuser -u \"$(id -nu %d)\" -- COMMAND; or, if it should be root's, %s", st.Uid, next)
		}
		return nil, fmt.Errorf("%s is refused: it belongs to another user (uid %d), who %s; %s", path, st.Uid, who, next)
	}
	return st, nil
}
