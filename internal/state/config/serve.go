package config

import (
	"errors"
	"fmt"
	"io/fs"
)

// Serve tells which tools clawai's own server offers.
type Serve struct{ Status, Vault bool }

type serveTable struct {
	Status *bool `toml:"status"`
	Vault  *bool `toml:"vault"`
}

// LoadServe reads the settings of clawai's own server from config.toml. The file need not exist,
// and is refused for the same reasons as in LoadAsk.
func LoadServe(f Folders) (Serve, error) {
	s := Serve{Status: true}
	path := f.SettingsFile()
	src, err := ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return Serve{}, fmt.Errorf("settings %s: %w", path, err)
	}
	file, err := readSettings(path, src)
	if err != nil {
		return Serve{}, err
	}
	if p := file.Serve.Status; p != nil {
		s.Status = *p
	}
	if p := file.Serve.Vault; p != nil {
		s.Vault = *p
	}
	return s, nil
}
