package config

import (
	"errors"
	"fmt"
	"io/fs"
)

// LoadHideDenied reads the setting "list" of config.toml. It returns true if servers' lists must
// leave out the entries that the policy denies in every case. The file need not exist, and is
// refused for the same reasons as in LoadAsk.
func LoadHideDenied(f Folders) (bool, error) {
	path := f.SettingsFile()
	src, err := ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("settings %s: %w", path, err)
	}
	file, err := readSettings(path, src)
	if err != nil || file.List == nil {
		return false, err
	}
	switch *file.List {
	case "all":
		return false, nil
	case "allowed":
		return true, nil
	}
	return false, fmt.Errorf("%s:%d: list: %q is neither allowed nor all", path, keyLines(src)["list"], *file.List)
}
