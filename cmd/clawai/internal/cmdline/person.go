package cmdline

import (
	"os/user"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/state/config"
)

// ViewOptions returns this machine's options for showing a request.
func ViewOptions(dirs config.Folders) view.Options {
	return view.Options{Home: dirs.Home, Own: []string{dirs.Config, dirs.State}, ReadFile: ReadFile}
}

// AccountName returns the account name of the person who answers, or "" if the system does not know
// it.
func AccountName() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}
