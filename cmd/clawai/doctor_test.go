//go:build unix

package main

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/creack/pty"
)

// TestDoctorFindsTheTerminal: where a question could be asked, doctor says so,
// and leaves the terminal to the next program.
func TestDoctorFindsTheTerminal(t *testing.T) {
	cmd := exec.Command("clawai", "doctor", "--all")
	cmd.Env = append(os.Environ(), "TERM=dumb", "HOME="+t.TempDir(), "TMPDIR="+t.TempDir())
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 200})
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	out := &screen{more: make(chan struct{}, 1)}
	stop := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
	defer stop.Stop()
	out.follow(tty)
	_ = cmd.Wait() // there is no policy, so that it fails
	for _, want := range []string{"terminal: could be asked now", "there is no policy at"} {
		if !out.has(want) {
			t.Errorf("the screen lacks %q:\n%s", want, out.text.String())
		}
	}
}
