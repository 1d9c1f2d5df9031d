package config

import "path/filepath"

// ReadFile reads a file of clawai's own, and refuses it when somebody other than
// its owner and root could have written it or led us to it.
func ReadFile(path string) ([]byte, error) {
	t, err := follow(path)
	if err != nil {
		return nil, err
	}
	return readFile(t.file)
}

// ClientsFile is the users' own part of the catalogue of clients' files.
func (f Folders) ClientsFile() string { return filepath.Join(f.Config, "clients.toml") }
