package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestDirs(t *testing.T) {
	type env map[string]string
	tests := []struct {
		name, goos, home string
		env              env
		config, state    string // or
		fail             string // what the error names
	}{
		{"home", "linux", "/h", nil, "/h/.config/clawai", "/h/.local/state/clawai", ""},
		{"mac as linux", "darwin", "/h", env{"AppData": "/a"}, "/h/.config/clawai", "/h/.local/state/clawai", ""},
		{"xdg", "linux", "/h", env{"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"}, "/c/clawai", "/s/clawai", ""},
		{"ours first", "linux", "/h", env{"XDG_CONFIG_HOME": "/c", "CLAWAI_CONFIG_DIR": "/o/", "CLAWAI_STATE_DIR": "/p"}, "/o", "/p", ""},
		{"no home needed", "linux", "", env{"CLAWAI_CONFIG_DIR": "/o", "CLAWAI_STATE_DIR": "/p"}, "/o", "/p", ""},
		{"windows", "windows", "/h", env{"AppData": "/a", "LocalAppData": "/l"}, "/a/clawai", "/l/clawai", ""},
		{"windows without", "windows", "/h", nil, "/h/.config/clawai", "/h/.local/state/clawai", ""},
		{"no home", "linux", "", nil, "", "", "HOME"},
		{"no home for state", "linux", "", env{"CLAWAI_CONFIG_DIR": "/o"}, "", "", "CLAWAI_STATE_DIR"},
		{"relative", "linux", "/h", env{"XDG_STATE_HOME": "s"}, "", "", `XDG_STATE_HOME is the relative path "s"`},
		{"relative ours", "linux", "/h", env{"CLAWAI_CONFIG_DIR": "./c", "XDG_CONFIG_HOME": "/c"}, "", "", "CLAWAI_CONFIG_DIR"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := findFolders(tt.goos, tt.home, func(k string) string { return tt.env[k] })
			if tt.fail != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fail) {
					t.Errorf("got %v, want an error that names %q", err, tt.fail)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := Folders{filepath.FromSlash(tt.config), filepath.FromSlash(tt.state), tt.home}
			if f != want {
				t.Errorf("got %+v, want %+v", f, want)
			}
		})
	}
}

func TestDirsReadsTheEnvironment(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("CLAWAI_CONFIG_DIR", filepath.Join(dir, "c"))
	t.Setenv("CLAWAI_STATE_DIR", filepath.Join(dir, "s"))
	home := "HOME"
	if runtime.GOOS == "windows" {
		home = "USERPROFILE"
	}
	for value, want := range map[string]string{dir: dir, "relative": "", "": ""} {
		t.Setenv(home, value)
		f, err := ReadFolders()
		if err != nil || f.PolicyFile() != filepath.Join(dir, "c", "policy.toml") || f.Home != want {
			t.Errorf("%s=%q: %+v, %v", home, value, f, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "c")); err == nil {
		t.Error("asking for folders made one")
	}
}
