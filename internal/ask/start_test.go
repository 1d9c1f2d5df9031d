//go:build linux || darwin

package ask

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/clawai/clawai/internal/testing/exectest"
)

// A program that imports this room must start as if it did not: nothing
// written, nothing run, no variable changed, whatever terminal it starts on.
func TestStartTouchesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	exectest.Write(t, filepath.Join(dir, "tmux"), []byte("#!/bin/sh\n: > "+ran+"\n"))
	for _, color := range []string{"unset", "", "0"} {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = []string{"PATH=" + dir + ":/usr/bin", "TERM=xterm", "TMUX=/tmp/x,1,0", envStart + "=1",
			"GODEBUG=inittrace=1"}
		if color != "unset" {
			cmd.Env = append(cmd.Env, "NO_COLOR="+color)
		}
		p, tty, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		var stderr strings.Builder
		cmd.Stdout, cmd.Stderr = tty, &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %s", err, stderr.String())
		}
		buf := make([]byte, 1024)
		n, err := p.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := strings.TrimSpace(string(buf[:n])), "NO_COLOR="+color+" PATH="+dir+":/usr/bin"; got != want {
			t.Errorf("the terminal got %q, want %q", got, want)
		}
		order := stderr.String()
		if q, l := strings.Index(order, "ask/quietstart "), strings.Index(order, "lipgloss/v2 "); q < 0 || l < q {
			t.Errorf("quietstart at %d does not come before lipgloss at %d:\n%s", q, l, order)
		}
		if _, err := os.Stat(ran); err == nil {
			t.Fatal("tmux was run")
		}
		_ = tty.Close()
		_ = p.Close()
	}
}
