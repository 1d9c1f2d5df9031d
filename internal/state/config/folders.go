package config

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Folders are the folders of clawai's files. All paths are absolute; the folders need not exist.
type Folders struct {
	Config string // folder of policy.toml and config.toml
	State  string // folder of the record and of all other files that clawai writes
	Home   string // the home folder, which is ~ in a policy; "" if it is unknown
}

// PolicyFile returns the path of the default policy. It is used if the command line names no
// policy.
func (f Folders) PolicyFile() string { return filepath.Join(f.Config, "policy.toml") }

// ReadFolders reads the folders from the environment: CLAWAI_CONFIG_DIR and CLAWAI_STATE_DIR, else
// the XDG variables, else AppData on Windows, else ~/.config and ~/.local/state, also on macOS.
func ReadFolders() (Folders, error) {
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		home = ""
	}
	return findFolders(runtime.GOOS, home, os.Getenv)
}

func findFolders(goos, home string, getenv func(string) string) (f Folders, err error) {
	f.Home = home
	find := finder{goos, home, getenv}
	if f.Config, err = find.findFolder("CLAWAI_CONFIG_DIR", "XDG_CONFIG_HOME", "AppData", ".config"); err != nil {
		return Folders{}, err
	}
	if f.State, err = find.findFolder("CLAWAI_STATE_DIR", "XDG_STATE_HOME", "LocalAppData", filepath.Join(".local", "state")); err != nil {
		return Folders{}, err
	}
	return f, nil
}

type finder struct {
	goos, home string
	getenv     func(string) string
}

// findFolder returns the folder that the environment names. Of the variables in the parameters own,
// xdg and (on Windows) windows, the first one that is set decides. The value of the variable in the
// parameter own is the folder itself. The value of the other two is the folder around it. If none
// is set, the folder around it is in the home folder; the parameter below is the path from the home
// folder. A relative value is an error, because its meaning would depend on the folder in which the
// client starts us.
func (f finder) findFolder(own, xdg, windows, below string) (string, error) {
	type source struct{ name, under string }
	sources := []source{{own, ""}, {xdg, "clawai"}}
	if f.goos == "windows" {
		sources = append(sources, source{windows, "clawai"})
	}
	for _, s := range sources {
		dir := f.getenv(s.name)
		if dir == "" {
			continue
		}
		if !filepath.IsAbs(dir) {
			return "", fmt.Errorf("%s is the relative path %q; set it to an absolute one", s.name, dir)
		}
		return filepath.Join(dir, s.under), nil
	}
	if f.home == "" {
		variable := "HOME"
		if f.goos == "windows" {
			variable = "USERPROFILE"
		}
		return "", fmt.Errorf("no home folder is known (%s is not set, or relative); set it or %s in the environment clawai is started with", variable, own)
	}
	return filepath.Join(f.home, below, "clawai"), nil
}
