package config

import (
	"fmt"
	"path/filepath"
	"strings"
)

// ReadFile reads one of clawai's own files. It returns an error if a user other than the owner and
// root could have written the file or replaced the path to it.
func ReadFile(path string) ([]byte, error) {
	t, err := resolvePath(path)
	if err != nil {
		return nil, err
	}
	return readFile(t.file)
}

// ReferencePath returns the whole path of a file that another file names. The parameter referring
// is the path of the file that contains the name, and path is the name as it is written there. "~/"
// means the home folder. A relative path begins at the folder of the file that contains it.
func ReferencePath(referring, path string) (string, error) {
	switch rest, home := strings.CutPrefix(path, "~/"); {
	case home:
		folders, err := ReadFolders()
		if err != nil || folders.Home == "" {
			return "", fmt.Errorf("%s: your home folder is not known", path)
		}
		return filepath.Join(folders.Home, rest), nil
	case !filepath.IsAbs(path):
		return filepath.Join(filepath.Dir(referring), path), nil
	}
	return path, nil
}

// ClientsFile returns the path of the file with which the user extends the catalogue of client
// files.
func (f Folders) ClientsFile() string { return filepath.Join(f.Config, "clients.toml") }

// ReadPinned reads a file without a check of who can write it. The caller compares the content with
// a digest.
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
