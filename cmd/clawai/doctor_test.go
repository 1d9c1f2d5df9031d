//go:build unix

package main

import (
	"os"
	"os/exec"
	"runtime/debug"
	"testing"
	"time"

	"github.com/creack/pty"
)

// TestDoctorFindsTheTerminal: where a question could be asked, doctor says so,
// and leaves the terminal to the next program.
func TestDoctorFindsTheTerminal(t *testing.T) {
	cmd := exec.Command("clawai", "doctor")
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

func TestRevisionOf(t *testing.T) {
	rev := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef"}
	dirty := debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	for _, c := range []struct {
		settings []debug.BuildSetting
		want     string
	}{
		{nil, ""},
		{[]debug.BuildSetting{rev}, " (0123456789ab)"},
		{[]debug.BuildSetting{rev, dirty}, " (0123456789ab, modified)"},
		{[]debug.BuildSetting{dirty}, ""},
	} {
		if got := revisionOf(&debug.BuildInfo{Settings: c.settings}, true); got != c.want {
			t.Errorf("%v: %q, want %q", c.settings, got, c.want)
		}
	}
	if got := revisionOf(nil, false); got != "" {
		t.Errorf("no information gives %q", got)
	}
}
