//go:build unix

package enrolment

import (
	"os"
	"os/user"
	"strconv"

	"github.com/clawai/clawai/policy"
)

// NameAccount returns the caller's name on a laptop that is not enrolled: local:NAME. NAME is the
// account that runs this process. NameAccount does not use the environment, because the program
// that starts us can set it. If the system's list of accounts has no name for the account, NAME is
// the account's number.
func NameAccount() policy.NameSet {
	name := strconv.Itoa(os.Getuid())
	if u, err := user.LookupId(name); err == nil && u.Username != "" {
		name = u.Username
	}
	return localName(name)
}
