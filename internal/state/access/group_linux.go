package access

import (
	"bufio"
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The files that list groups and users. Only tests change these variables.
var groupFile, userFile = "/etc/group", "/etc/passwd"

// privateGroup reports whether we are the only member of a group. Some systems give each user a
// private group and create files that this group can write (umask 002). In doubt, privateGroup
// returns false: for example if the group is not in groupFile, or if the file at path has an access
// list, which may name other users.
func privateGroup(path string, gid uint32) bool {
	if int(gid) != os.Getegid() || hasAccessList(path) {
		return false
	}
	me, alone := "", true
	uid, group := strconv.Itoa(os.Geteuid()), strconv.Itoa(int(gid))
	err := eachLine(userFile, func(f []string) {
		switch {
		case len(f) < 4:
		case f[2] == uid:
			me = f[0]
		case f[3] == group:
			alone = false
		}
	})
	if err != nil || me == "" || !alone {
		return false
	}
	listed := false
	err = eachLine(groupFile, func(f []string) {
		if len(f) == 4 && f[2] == group {
			listed = true
			alone = alone && (f[3] == "" || f[3] == me)
		}
	})
	return err == nil && listed && alone
}

func eachLine(path string, see func(fields []string)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		see(strings.Split(lines.Text(), ":"))
	}
	return lines.Err()
}

// hasAccessList reports whether a file has an access list. It returns true if it cannot find out.
func hasAccessList(path string) bool {
	_, err := unix.Lgetxattr(path, "system.posix_acl_access", nil)
	return !errors.Is(err, unix.ENODATA) && !errors.Is(err, unix.ENOTSUP)
}
