//go:build unix

package enrolment

import (
	"os"
	"os/user"
	"strconv"

	"github.com/clawai/clawai/policy"
)

// NameAccount returns the caller's name on a laptop that is not enrolled: local:NAME, of the account
// that runs this process. The environment is not asked, since whoever starts us can set it; an account
// that the system's file of accounts does not have goes by its number.
func NameAccount() policy.NameSet {
	name := strconv.Itoa(os.Getuid())
	if u, err := user.LookupId(name); err == nil && u.Username != "" {
		name = u.Username
	}
	return localName(name)
}
