package config

import (
	"fmt"
	"path/filepath"
	"strings"
)

// ReadFile reads a file of clawai's own, and refuses it when somebody other than
// its owner and root could have written it or led us to it.
func ReadFile(path string) ([]byte, error) {
	t, err := resolvePath(path)
	if err != nil {
		return nil, err
	}
	return readFile(t.file)
}

// ReferencePath gives the path of a file that another names: below the home folder, or relative to the
// folder of that one.
func ReferencePath(named, path string) (string, error) {
	switch rest, home := strings.CutPrefix(path, "~/"); {
	case home:
		folders, err := ReadFolders()
		if err != nil || folders.Home == "" {
			return "", fmt.Errorf("%s: your home folder is not known", path)
		}
		return filepath.Join(folders.Home, rest), nil
	case !filepath.IsAbs(path):
		return filepath.Join(filepath.Dir(named), path), nil
	}
	return path, nil
}

// ClientsFile gives the users' own part of the catalogue of clients' files.
func (f Folders) ClientsFile() string { return filepath.Join(f.Config, "clients.toml") }

// ReadPinned reads a file whose bytes the caller compares with what they must be,
// so that it does not matter who can write it.
func ReadPinned(path string) ([]byte, error) {
	src, err := projectText(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	case src == nil:
		return nil, fmt.Errorf("there is no file %s that can be read", path)
	}
	return src, nil
}
