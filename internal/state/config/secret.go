package config

import (
	"os"

	"github.com/clawai/clawai/internal/state/access"
)

// ReadSecret is like ReadFile, but also returns an error if a user other than the owner can open
// the file.
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

// SignIns returns the folder of the sign-ins at remote servers. The paths of their lock files are
// this path with a suffix.
func (f Folders) SignIns() string { return f.State + string(os.PathSeparator) + "oauth" }

// VaultFolder returns the folder of the vault. The folder contains the encrypted file, or the names
// of the entries in the keychain.
func (f Folders) VaultFolder() string { return f.State + string(os.PathSeparator) + "vault" }
