package centre

import (
	"strings"

	"github.com/clawai/clawai/internal/state/config"
)

// credentials is the folder where systemd puts the secrets of a service (LoadCredential); tests set another
// folder. Only root can write there. systemd grants the service access by an access list, so the file's
// mode looks as if its group could read it, and config.ReadSecret would refuse the file.
var credentials = "/run/credentials/"

// ReadSecret reads a file with a secret. It returns an error if other users can read the file, except for
// files of systemd's credentials.
func ReadSecret(path string) ([]byte, error) {
	if strings.HasPrefix(path, credentials) {
		return config.ReadFile(path)
	}
	return config.ReadSecret(path)
}
