package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy"
)

const (
	good   = "[[rule]]\naction = \"deny\"\ntool = \"*\"\n"
	better = "[[rule]]\naction = \"prompt\"\ntool = \"*\"\n"
	bad    = "[[rule]]\naction = \"maybe\"\ntool = \"*\"\n"
)

// folder is a new folder that nobody else can write, whatever the umask.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "clawai-config-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// LoadPolicy is LoadPolicyFor for a place of which only the home is known.
func LoadPolicy(path, home string) (*Loaded, error) {
	return LoadPolicyFor(path, policy.Options{Home: home})
}

func TestLoadPolicy(t *testing.T) {
	path := filepath.Join(folder(t), "policy.toml")
	write(t, path, good)
	l, err := LoadPolicy(path, "/home/user")
	if err != nil {
		t.Fatal(err)
	}
	if l.Policy == nil || l.Path != path || string(l.Source) != good {
		t.Errorf("loaded %+v", l)
	}
}

func TestLoadPolicyFollowsSymlinksOfOurs(t *testing.T) {
	dir := folder(t)
	for _, name := range []string{"data", "data/v1", "conf"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "data", "v1", "policy.toml"), good)
	for link, target := range map[string]string{
		"data/current":     filepath.Join(dir, "data", "v1"), // absolute
		"conf/policy.toml": "../data/./current/policy.toml",  // climbs, through a link
		"start":            "conf",                           // a folder
		"up":               "data/..",                        // ends above
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := LoadPolicy(filepath.Join(dir, "up", "start", "policy.toml"), ""); err != nil {
		t.Error(err)
	}
	tr, err := resolvePath(filepath.Join(dir, "up"))
	if err != nil || tr.file != dir {
		t.Errorf("up leads to %q, %v", tr.file, err)
	}
}

func TestLoadPolicyErrorsSayWhatToDo(t *testing.T) {
	dir := folder(t)
	path := func(name string) string { return filepath.Join(dir, name) }
	write(t, path("bad"), bad)
	write(t, path("worse"), bad+bad+bad)
	write(t, path("file"), good)
	big, err := os.Create(path("big"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(big.Truncate(maxPolicy+1), big.Close()); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"loop": "loop", "dangling": "nothing"} {
		if err := os.Symlink(target, path(link)); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct{ file, want string }{
		{"missing", "there is no policy at"},
		{"missing", "clawai init writes yours"},
		{"no/folder/p", "there is no policy at"},
		{"dangling", "there is no policy at"},
		{"bad", "bad:2:"},
		{"bad", "see all with: clawai policy check "},
		{"worse", "and 2 more"},
		{"file/p", "file/p"},
		{"loop", "too many symlinks"},
		{"big", "larger than 64 MiB"},
		{".", "not a regular file"},
	}
	for _, tt := range tests {
		_, err := LoadPolicy(path(tt.file), "")
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path(tt.file)) {
			t.Errorf("%s: got %v, want %q and the path", tt.file, err, tt.want)
		}
		if err != nil && tt.file == "file/p" && strings.Count(err.Error(), path(tt.file)) != 1 {
			t.Errorf("%s: the path stands more than once: %v", tt.file, err)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: more than one line: %v", tt.file, err)
		}
	}
	if _, err := LoadPolicy(path("missing"), ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing policy is %v", err)
	}
}
