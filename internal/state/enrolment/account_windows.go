package enrolment

import (
	"os/user"

	"github.com/clawai/clawai/policy"
)

// NameAccount returns the caller's name on a laptop that is not enrolled: local:DOMAIN\NAME, the
// account that runs this process, from the process's token.
func NameAccount() policy.NameSet {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return localName(u.Username)
}
