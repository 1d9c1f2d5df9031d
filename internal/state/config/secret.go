package config

import (
	"os"

	"github.com/clawai/clawai/internal/state/access"
)

// ReadSecret gives ReadFile for a file that nobody but its owner may open.
func ReadSecret(path string) ([]byte, error) {
	src, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := access.CheckOpen(path, info); err != nil {
		return nil, err
	}
	return src, nil
}

// SignIns gives where sign-ins at remote servers are kept, and their lock.
func (f Folders) SignIns() string { return f.State + string(os.PathSeparator) + "oauth" }

// VaultFolder gives the folder of the vault: the encrypted file, or the names of what is in the
// keychain.
func (f Folders) VaultFolder() string { return f.State + string(os.PathSeparator) + "vault" }
