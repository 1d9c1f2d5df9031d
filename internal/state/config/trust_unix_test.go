//go:build unix

package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// place is folder/sub/policy.toml with a symlink folder/link to it.
type place struct{ top, sub, file, link string }

func newPlace(t *testing.T) place {
	t.Helper()
	top := folder(t)
	p := place{top, filepath.Join(top, "sub"), filepath.Join(top, "sub", "policy.toml"), filepath.Join(top, "link")}
	if err := os.Mkdir(p.sub, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, p.file, good)
	if err := os.Symlink(p.file, p.link); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestWhatOthersCanWriteIsRefused(t *testing.T) {
	chmod := func(mode fs.FileMode, of func(p place) string) func(p place) error {
		return func(p place) error { return os.Chmod(of(p), mode) }
	}
	top := func(p place) string { return p.top }
	sub := func(p place) string { return p.sub }
	file := func(p place) string { return p.file }
	tests := []struct {
		name   string
		change func(p place) error
		want   string // of the error; "" when it loads
	}{
		{"ours alone", chmod(0o600, file), ""},
		{"readable by all", chmod(0o644, file), ""},
		{"file, others", chmod(0o602, file), "chmod go-w"},
		{"file, sticky", chmod(0o662|fs.ModeSticky, file), "chmod go-w"},
		{"its folder, others", chmod(0o707, sub), "chmod go-w"},
		{"a folder above", chmod(0o777, top), "chmod go-w"},
		{"its folder, sticky", chmod(0o777|fs.ModeSticky, sub), ""},
		{"file in a sticky folder", func(p place) error {
			return errors.Join(os.Chmod(p.sub, 0o777|fs.ModeSticky), os.Chmod(p.file, 0o666))
		}, "chmod go-w"},
		{"a pipe", func(p place) error {
			return errors.Join(os.Remove(p.file), syscall.Mkfifo(p.file, 0o600))
		}, "not a regular file"},
	}
	for _, tt := range tests {
		p := newPlace(t)
		if err := tt.change(p); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{p.file, p.link} {
			_, err := LoadPolicy(path, "")
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s, by %s: got %v, want %q", tt.name, filepath.Base(path), err, tt.want)
			}
		}
	}
}

const stranger = 4711

func TestWhatBelongsToAnotherUserIsRefused(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	for _, what := range []string{"file", "link", "sub", "top"} {
		p := newPlace(t)
		path := map[string]string{"file": p.file, "link": p.link, "sub": p.sub, "top": p.top}[what]
		if err := os.Lchown(path, stranger, stranger); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadPolicy(p.link, ""); err == nil || !strings.Contains(err.Error(), "belongs to another user (uid 4711)") {
			t.Errorf("%s of another user: %v", what, err)
		}
	}
}

// TestAnotherUser runs the loading as a user that is not root: what is root's
// or its own is trusted, what is a third one's is not.
func TestAnotherUser(t *testing.T) {
	if path := os.Getenv("CONFIG_CHILD"); path != "" {
		_, err := LoadPolicy(path, "")
		fmt.Printf("loaded: %v\n", err)
		return
	}
	if os.Getuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	exe := filepath.Join(folder(t), "test")
	if out, err := exec.Command("cp", os.Args[0], exe).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Chmod(filepath.Dir(exe), 0o755); err != nil {
		t.Fatal(err)
	}
	for owner, want := range map[int]string{0: "<nil>", stranger: "<nil>", stranger + 1: "belongs to another user"} {
		p := newPlace(t)
		for path, mode := range map[string]fs.FileMode{p.top: 0o755, p.sub: 0o755, p.file: 0o644} {
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Lchown(path, owner, owner); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(exe, "-test.run=^TestAnotherUser$")
		cmd.Dir = "/"
		cmd.Env = append(os.Environ(), "CONFIG_CHILD="+p.file)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stranger, Gid: stranger}}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "loaded: ") || !strings.Contains(string(out), want) {
			t.Errorf("owner %d: %v: %s, want %s", owner, err, out, want)
		}
	}
}

func TestPrivateFolder(t *testing.T) {
	dir := folder(t)
	path := filepath.Join(dir, "state", "clawai")
	if err := PrivateFolder(path); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("made %v, %v", info.Mode(), err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := PrivateFolder(link); err != nil {
		t.Error(err)
	}
	for _, mode := range []fs.FileMode{0o772, 0o777 | fs.ModeSticky} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if PrivateFolder(path) == nil || PrivateFolder(link) == nil {
			t.Errorf("mode %v is not refused", mode)
		}
	}
	if err := os.Chmod(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if PrivateFolder(path) == nil {
		t.Error("a folder above that all can write is not refused")
	}
	file := filepath.Join(folder(t), "file")
	write(t, file, "")
	if PrivateFolder(file) == nil || PrivateFolder(filepath.Join(file, "below")) == nil {
		t.Error("a file is not refused")
	}
}
