//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tmux is a terminal that a person sits at: a tmux server of its own with one
// window, whose screen is read as it is shown.
type tmux struct {
	t      *testing.T
	s      site
	socket string
}

// newTmux runs command, a line for the shell, on a screen of 100 by 34.
func newTmux(t *testing.T, s site, command string) tmux {
	t.Helper()
	dir, err := os.MkdirTemp("", "tmux") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	w := tmux{t, s, filepath.Join(dir, "s")}
	t.Cleanup(func() {
		_ = w.command("kill-server").Run()
		os.RemoveAll(dir)
	})
	w.do("new-session", "-d", "-x", "100", "-y", "34", command)
	return w
}

func (w tmux) command(args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", append([]string{"-f", "/dev/null", "-S", w.socket}, args...)...)
	for _, v := range w.s.env {
		if !strings.HasPrefix(v, "TMUX") && !strings.HasPrefix(v, "TERM=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "TERM=xterm-256color", "LC_ALL=C.UTF-8")
	return cmd
}

func (w tmux) do(args ...string) string {
	w.t.Helper()
	out, err := w.command(args...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func (w tmux) screen() string { w.t.Helper(); return w.do("capture-pane", "-p") }

// wait returns the screen once it shows all of the texts.
func (w tmux) wait(texts ...string) string {
	w.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		screen := w.screen()
		missing := ""
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				missing = text
			}
		}
		if missing == "" {
			return screen
		}
		if time.Now().After(end) {
			w.t.Fatalf("the screen never showed %q:\n%s", missing, screen)
		}
	}
}

// press sends keys as a person would who has read the screen: not in the moment
// in which it has changed.
func (w tmux) press(keys ...string) (at time.Time) {
	w.t.Helper()
	for _, key := range keys {
		time.Sleep(500 * time.Millisecond)
		at = time.Now()
		w.do("send-keys", key)
	}
	return at
}

// here is the folder of the tests, for programs that start in another.
func here(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
