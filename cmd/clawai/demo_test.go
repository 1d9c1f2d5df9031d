//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/clawai/clawai/internal/testing/slow"
)

// screen is what a terminal has been sent so far.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(b)
	select {
	case s.more <- struct{}{}:
	default:
	}
	return len(b), nil
}

func (s *screen) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.text.String(), text)
}

// TestDemoAsksAtTheTerminal: with a terminal, the write is asked for as a routine
// question, and what is answered is done and told.
func TestDemoAsksAtTheTerminal(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	for answer, want := range map[string][]string{
		"allow": {"asked, and you said yes", "wrote 22 bytes", "Verified: "},
		"deny":  {"asked, and you said no", "the owner denied it", "Verified: "},
	} {
		t.Run(answer, func(t *testing.T) { playDemo(t, answer, want) })
	}
}

func playDemo(t *testing.T, answer string, wants []string) {
	cmd := exec.Command("clawai", "demo")
	cmd.Env = append(os.Environ(), "TERM=dumb", "HOME="+t.TempDir(), "TMPDIR="+t.TempDir())
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 120})
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	out := &screen{more: make(chan struct{}, 1)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		out.follow(tty)
	}()
	// The question takes nothing typed before it can be read, so the answer is
	// given again until it is taken.
	again := time.NewTicker(200 * time.Millisecond)
	defer again.Stop()
	deadline := time.After(30 * time.Second)
	for running := true; running; {
		select {
		case <-again.C:
			if out.has("> ") && !out.has("Verified") {
				_, _ = tty.WriteString(answer + "\n")
			}
		case <-out.more:
		case <-ended:
			running = false
		case <-deadline:
			t.Fatalf("no end in sight:\n%s", out.text.String())
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, out.text.String())
	}
	if out.has("careful") || out.has("DANGEROUS") {
		t.Errorf("a write in the project is told as one that needs care:\n%s", out.text.String())
	}
	for _, want := range wants {
		if !out.has(want) {
			t.Errorf("the screen lacks %q:\n%s", want, out.text.String())
		}
	}
}

// follow copies until the terminal is gone, which a pty says with an error.
func (s *screen) follow(tty *os.File) {
	buf := make([]byte, 4096)
	for {
		n, err := tty.Read(buf)
		_, _ = s.Write(buf[:n])
		if err != nil {
			return
		}
	}
}
