//go:build linux || darwin

package approve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"go.uber.org/goleak"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
)

// The asking process is this test binary again: its own session, the pty as its
// controlling terminal, and pipes as stdin, stdout and stderr, like a proxy.

const (
	envOrder = "APPROVE_TEST_ORDER"
	envStart = "APPROVE_TEST_START"
)

// order is what the asking process shall do; it answers with an outcome.
type order struct {
	Question gate.Question
	Options  Options
	Timeout  time.Duration
}

type outcome struct {
	Reply  gate.Reply
	Digest [32]byte
	Rung   string
	Note   string
	Err    string
}

func TestMain(m *testing.M) {
	if raw := os.Getenv(envOrder); raw != "" {
		os.Exit(asker(raw))
	}
	if os.Getenv(envStart) != "" {
		color, had := os.LookupEnv("NO_COLOR")
		if !had {
			color = "unset"
		}
		fmt.Print("NO_COLOR=" + color)
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func asker(raw string) int {
	var o order
	if err := json.Unmarshal([]byte(raw), &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if o.Timeout > 0 {
		o.Question.Deadline = time.Now().Add(o.Timeout)
	}
	// A second line of defence against a test that hangs.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	a, err := NewTerminal(o.Options).Ask(ctx, o.Question)
	out := outcome{Reply: a.Reply, Digest: a.Digest, Rung: a.Rung, Note: a.Note}
	if err != nil {
		out.Err = err.Error()
	}
	if leak := goleak.Find(); leak != nil {
		out.Err += " LEAK: " + leak.Error()
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		return 2
	}
	return 0
}

// session is one asking process on one pty.
type session struct {
	t      *testing.T
	screen *emulator
	pty    *os.File
	tty    *os.File
	cmd    *exec.Cmd
	stdout strings.Builder
	stderr strings.Builder
	read   chan struct{} // closed when the pty has no more output
}

// start runs the order in a process on a new pty of the given size.
func start(t *testing.T, o order, rows, cols int, env ...string) *session {
	t.Helper()
	p, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	s := &session{t: t, pty: p, tty: tty, screen: newEmulator(rows, cols), read: make(chan struct{})}
	s.resize(rows, cols)
	if o.Options.Lock == "" {
		o.Options.Lock = filepath.Join(t.TempDir(), "terminal.lock")
	}
	s.cmd = s.command(o, env...)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	s.cmd.ExtraFiles = []*os.File{tty}
	go s.pump()
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s
}

func (s *session) command(o order, env ...string) *exec.Cmd {
	raw, err := json.Marshal(o)
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "CLAWAI_ACCESSIBLE=", envOrder+"="+string(raw))
	cmd.Env = append(cmd.Env, env...)
	cmd.Stdout, cmd.Stderr = &s.stdout, &s.stderr
	return cmd
}

// pump feeds the emulator until the pty closes.
func (s *session) pump() {
	defer close(s.read)
	buf := make([]byte, 4096)
	for {
		n, err := s.pty.Read(buf)
		s.screen.Write(buf[:n])
		if err != nil {
			return
		}
	}
}

func (s *session) resize(rows, cols int) {
	if err := pty.Setsize(s.pty, &pty.Winsize{Rows: uint16(rows), Cols: uint16(cols)}); err != nil {
		s.t.Fatal(err)
	}
	s.screen.resize(rows, cols)
}

// see waits until the screen shows every text.
func (s *session) see(texts ...string) {
	s.t.Helper()
	if !s.screen.wait(20*time.Second, func(shown string) bool {
		for _, text := range texts {
			if !strings.Contains(shown, text) {
				return false
			}
		}
		return true
	}) {
		s.t.Fatalf("not seen: %q\nscreen:\n%s\nstderr: %s", texts, s.screen.text(), s.stderr.String())
	}
}

// keys types after the time in which no key is an answer.
func (s *session) keys(keys string) {
	s.t.Helper()
	time.Sleep(testGrace + 20*time.Millisecond) // the product's own clock, not a wait for it
	if _, err := s.pty.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// end waits for the process and gives its outcome, having checked that the
// protocol's stream holds nothing else and the terminal is as it was.
func (s *session) end() outcome {
	s.t.Helper()
	err := s.cmd.Wait()
	if err != nil {
		s.t.Fatalf("asking process: %v; stderr: %s", err, s.stderr.String())
	}
	var out outcome
	d := json.NewDecoder(strings.NewReader(s.stdout.String()))
	if err := d.Decode(&out); err != nil || d.More() {
		s.t.Fatalf("stdout is not one outcome (%v): %q", err, s.stdout.String())
	}
	if s.stderr.Len() > 0 {
		s.t.Errorf("stderr: %s", s.stderr.String())
	}
	if strings.Contains(out.Err, "LEAK") {
		s.t.Error(out.Err)
	}
	if err := s.screen.complaint(); err != nil {
		s.t.Error(err)
	}
	return out
}

func (s *session) close() {
	if s.cmd.ProcessState == nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	}
	_ = errors.Join(s.tty.Close(), s.pty.Close())
	<-s.read
}

// testGrace keeps the tests short; the product's own is 300 ms.
const testGrace = 150 * time.Millisecond

const (
	up    = "\x1b[A"
	down  = "\x1b[B"
	enter = "\r"
	esc   = "\x1b"
)

// writeCall is a question about one tool call.
func writeCall(args string) order {
	return order{
		Options: Options{Grace: testGrace},
		Timeout: 30 * time.Second,
		Question: gate.Question{
			Calls: []policy.Call{{
				Server: "files", Method: "tools/call", Subject: policy.ToolSubject,
				Names: []string{"write_file"}, Args: []byte(args),
			}},
			Rule:    policy.Rule{Action: policy.Prompt, Pos: policy.Position{File: "policy.toml", Line: 7}, Description: "Ask before writes"},
			Digest:  [32]byte{1, 2, 3},
			Session: true,
		},
	}
}
