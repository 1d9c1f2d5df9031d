package enrolment

import (
	"os/user"

	"github.com/clawai/clawai/policy"
)

// NameAccount returns the caller's name on a laptop that is not enrolled: local:DOMAIN\NAME. The
// name is that of the account that runs this process, and comes from the process's token.
func NameAccount() policy.NameSet {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return localName(u.Username)
}
