package mirror

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// world is a file, its mirror and a remote.
type world struct {
	t    *testing.T
	path string
	m    Mirror
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("git is not installed")
	}
	dir := t.TempDir()
	t.Setenv("GIT_DIR", filepath.Join(dir, "elsewhere")) // as in a hook of another repository
	w := &world{t: t, path: filepath.Join(dir, "checkpoints.ndjson"), m: Mirror{Folder: filepath.Join(dir, "own"), Remote: filepath.Join(dir, "remote")}}
	w.git("init", "--quiet", "--bare", w.m.Remote)
	return w
}

// git runs git as a person would.
func (w *world) git(words ...string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), "git", words...)
	cmd.Env = gitEnvironment(os.Environ())
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// push writes the file and pushes it.
func (w *world) push(text string) (Result, error) {
	w.t.Helper()
	if err := os.WriteFile(w.path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	f, err := os.Open(w.path)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	return w.m.Push(w.t.Context(), f)
}

// wants checks what the remote has.
func (w *world) wants(text, commits string) {
	w.t.Helper()
	if got := w.git("--git-dir="+w.m.Remote, "show", branch+":"+fileName); got != strings.TrimSpace(text) {
		w.t.Errorf("the remote has %q, want %q", got, text)
	}
	if n := w.git("--git-dir="+w.m.Remote, "rev-list", "--count", branch); n != commits {
		w.t.Errorf("%s commits, want %s", n, commits)
	}
}

// The copy grows with the file, also from a new folder, and what is there is never replaced.
func TestCopyOnlyGrows(t *testing.T) {
	w := newWorld(t)
	if r, err := w.push("one\n"); err != nil || r.Before != 0 || r.Now != 4 || r.Commit == "" {
		t.Fatalf("%+v, %v", r, err)
	}
	w.wants("one", "1")
	if r, err := w.push("one\ntwo\n"); err != nil || r.Before != 4 || r.Now != 8 {
		t.Fatalf("%+v, %v", r, err)
	}
	if r, err := w.push("one\ntwo\n"); err != nil || r.Before != r.Now {
		t.Errorf("nothing new: %+v, %v", r, err)
	}
	w.wants("one\ntwo", "2")
	for _, text := range []string{"", "one\n", "One\ntwo\nthree\n", "one\nTwo\n"} {
		if r, err := w.push(text); !errors.Is(err, ErrOther) {
			t.Errorf("%q: %+v, %v", text, r, err)
		}
	}
	w.wants("one\ntwo", "2")
	w.m.Folder += "2" // another machine, or the folder was lost
	if r, err := w.push("one\ntwo\n\x00three\n"); err != nil || r.Before != 8 {
		t.Fatalf("%+v, %v", r, err)
	}
	w.wants("one\ntwo\n\x00three", "3")
	w.m.Remote += "-of-others"
	w.git("init", "--quiet", "--bare", w.m.Remote)
	empty := w.git("--git-dir="+w.m.Remote, "hash-object", "-w", "-t", "tree", os.DevNull)
	w.git("--git-dir="+w.m.Remote, "update-ref", branch, w.git("--git-dir="+w.m.Remote, "commit-tree", "-m", "x", empty))
	if _, err := w.push("one\n"); !errors.Is(err, ErrOther) {
		t.Errorf("a branch of something else: %v", err)
	}
}

func TestRemoteThatCannotBeReached(t *testing.T) {
	w := newWorld(t)
	w.m.Remote += "-nowhere"
	if r, err := w.push("one\n"); err == nil || !strings.Contains(err.Error(), "git ls-remote") {
		t.Errorf("%+v, %v", r, err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := w.push("one\n"); err == nil || !strings.Contains(err.Error(), "git is not installed") {
		t.Errorf("%v", err)
	}
}

// A hook of the own repository is not run.
func TestHooksAreNotRun(t *testing.T) {
	w := newWorld(t)
	if _, err := w.push("one\n"); err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(t.TempDir(), "ran")
	hooks := filepath.Join(w.m.Folder, "hooks")
	if err := os.MkdirAll(hooks, 0o755); err != nil { //nolint:gosec // as git makes it
		t.Fatal(err)
	}
	for _, name := range []string{"pre-push", "reference-transaction", "post-commit"} {
		if err := os.WriteFile(filepath.Join(hooks, name), []byte("#!/bin/sh\necho ran >"+mark+"\nexit 1\n"), 0o755); err != nil { //nolint:gosec // it must be able to run
			t.Fatal(err)
		}
	}
	if _, err := w.push("one\ntwo\n"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a hook was run")
	}
}

func TestRemotes(t *testing.T) {
	for remote, ok := range map[string]bool{
		"/srv/git/checkpoints.git": true, "ssh://git@host.example/team/checkpoints.git": true, "https://host.example/team/checkpoints.git": true, "https://robot@host.example/c.git": false,
		"": false, "-oProxyCommand=x": false, "ext::sh -c x": false, "http://host.example/c.git": false, "git://host.example/c.git": false, "file:///srv/c.git": false, "ssh://-oProxyCommand=x/c": false,
		"https://robot:secret@host.example/c.git": false, "checkpoints.git": false, "git@host.example:c.git": false, "https:///c.git": false, "https://host.example/c.git?x": false,
	} {
		if err := CheckRemote(remote); (err == nil) != ok {
			t.Errorf("%q: %v", remote, err)
		}
	}
	for _, remote := range []string{"https://robot:secret@host.example/c.git", "https://secret@host.example/c.git"} {
		if err := CheckRemote(remote); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", remote, err)
		}
	}
}

// A repository has the whole file in each commit, so only the newest commit stays in ours.
func TestOwnRepositoryStaysSmall(t *testing.T) {
	w := newWorld(t)
	text := ""
	for i := range 8 {
		text += strings.Repeat("x", i) + "\n"
		if _, err := w.push(text); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-time.Hour)
		if err := filepath.WalkDir(filepath.Join(w.m.Folder, "objects"), func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Chtimes(path, old, old))
		}); err != nil {
			t.Fatal(err)
		}
	}
	w.wants(text, "8")
	if n := strings.Fields(w.git("--git-dir="+w.m.Folder, "count-objects"))[0]; n != "6" {
		t.Errorf("%s objects; two commits, each with a tree and a file, have 6", n)
	}
}

// What the user's settings say of ssh holds, and it finds no terminal at which it could ask.
func TestSSHOfTheUser(t *testing.T) {
	w := newWorld(t)
	said := filepath.Join(t.TempDir(), "said")
	program := filepath.Join(t.TempDir(), "ssh")
	// The shell opens a terminal only if there is one.
	if err := os.WriteFile(program, []byte("#!/bin/sh\n{ echo \"$*\"; (: </dev/tty) 2>/dev/null && echo terminal; } >"+said+"\nexit 1\n"), 0o755); err != nil { //nolint:gosec // it must be able to run
		t.Fatal(err)
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	w.git("config", "--global", "core.sshCommand", program+" -i deploy.key")
	w.m.Remote = "ssh://git@host.example/c.git"
	if _, err := w.push("one\n"); err == nil {
		t.Error("this ssh fails")
	}
	if src, err := os.ReadFile(said); err != nil || !strings.Contains(string(src), "-i deploy.key") || strings.Contains(string(src), "terminal") {
		t.Errorf("%v: %q", err, src)
	}
}

// What git started ends with it.
func TestNothingGoesOn(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	pid, program := filepath.Join(dir, "pid"), filepath.Join(dir, "ssh")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho $$ >"+pid+".new\nmv "+pid+".new "+pid+"\nexec sleep 1000\n"), 0o755); err != nil { //nolint:gosec // it must be able to run
		t.Fatal(err)
	}
	t.Setenv("GIT_SSH", program)
	w.m.Remote = "ssh://git@host.example/c.git"
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		f, err := os.Open(os.DevNull)
		if err == nil {
			_, err = w.m.Push(ctx, f)
			_ = f.Close()
		}
		ended <- err
	}()
	var src []byte
	for len(src) == 0 {
		src, _ = os.ReadFile(pid)
		time.Sleep(10 * time.Millisecond)
	}
	cancel()
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "was interrupted") {
		t.Errorf("%v", err)
	}
	id, err := strconv.Atoi(strings.TrimSpace(string(src)))
	if err != nil {
		t.Fatal(err)
	}
	for range 500 { // until the system has ended it
		if stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(id), "stat")); err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("ssh (%d) goes on", id)
}
