package cmdline

import (
	"os/user"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/state/config"
)

// ViewOptions gives what is known of this machine when a request is shown.
func ViewOptions(dirs config.Folders) view.Options {
	return view.Options{Home: dirs.Home, Own: []string{dirs.Config, dirs.State}, ReadFile: ReadFile}
}

// AccountName gives who answers, as far as the system knows.
func AccountName() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}
