package centre

import (
	"strings"

	"github.com/clawai/clawai/internal/state/config"
)

// credentials is where systemd keeps what it passes to one service alone (LoadCredential); tests have another
// folder. Only root can write there, and who may read is an entry of an access list, which looks as if the
// file's group could.
var credentials = "/run/credentials/"

// ReadSecret reads a file that only this program's user can read.
func ReadSecret(path string) ([]byte, error) {
	if strings.HasPrefix(path, credentials) {
		return config.ReadFile(path)
	}
	return config.ReadSecret(path)
}
