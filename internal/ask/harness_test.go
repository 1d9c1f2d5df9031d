//go:build linux || darwin

package ask

import (
	"cmp"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"go.uber.org/goleak"
	xterm "golang.org/x/term"

	"github.com/clawai/clawai/internal/ask/remember"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/testing/termtest"
	"github.com/clawai/clawai/policy"
)

// The asking process is this test binary again: its own session, the pty as its
// controlling terminal, and pipes as stdin, stdout and stderr, like a proxy.

const (
	envOrder = "APPROVE_TEST_ORDER" // set: the order comes on stdin, whose end takes it back
	envStart = "APPROVE_TEST_START"
)

// order is what the asking process shall do; it answers with an outcome.
type order struct {
	Question gate.Question
	Options  sent
	Timeout  time.Duration
	Client   string // what starts the asking process; see client
	Policy   string // the file an "always" rule goes into; "": none
	Denied   []remember.DeniedCall
	More     []gate.Question   // asked with Question, all at once
	Disk     map[string]string // the files that can be read; nil: none
	Queue    string            // the folder of a queue in which they wait beside; "": none
}

// sent are the Options that a process can be told.
type sent struct {
	Lock, By, TTY string
	View          view.Options
	Grace         time.Duration
	Plain         bool
}

// options are those of the terminal, with the policy that "always" is written to.
func (o order) options() Options {
	to := Options{Lock: o.Options.Lock, By: o.Options.By, TTY: o.Options.TTY, View: o.Options.View, Grace: o.Options.Grace, Plain: o.Options.Plain}
	if o.Disk != nil {
		to.View.ReadFile = func(path string) ([]byte, error) {
			if s, ok := o.Disk[path]; ok {
				return []byte(s), nil
			}
			return nil, fs.ErrNotExist
		}
	}
	if o.Policy != "" {
		to.RuleWriter = &remember.Writer{
			Policy: o.Policy, Options: policy.Options{Home: cmp.Or(o.Options.View.Home, "/home/user")}, Denied: denied(o.Denied), View: to.View,
		}
	}
	return to
}

// denied is a record that marks what it redacted like the real one.
type denied []remember.DeniedCall

func (d denied) Calls() iter.Seq2[remember.DeniedCall, error] {
	return func(yield func(remember.DeniedCall, error) bool) {
		for _, c := range d {
			var err error
			if c.Call.Method == "damaged" {
				err = errors.New("line 3 is no record")
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

func (d denied) Redacted(s string) bool { return strings.Contains(s, "[redacted:") }

type outcome struct {
	Reply   gate.Reply
	Digest  [32]byte
	Channel string
	Note    string
	Err     string
}

func TestMain(m *testing.M) {
	if os.Getenv(envOrder) != "" {
		os.Exit(asker())
	}
	if os.Getenv(envStart) != "" {
		color, had := os.LookupEnv("NO_COLOR")
		if !had {
			color = "unset"
		}
		fmt.Print("NO_COLOR=" + color + " PATH=" + os.Getenv("PATH"))
		os.Exit(0)
	}
	slow.Waiting()
	goleak.VerifyTestMain(m)
}

func asker() int {
	var o order
	if err := gob.NewDecoder(os.Stdin).Decode(&o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if o.Client != "" {
		return client(o)
	}
	if o.Timeout > 0 {
		o.Question.Deadline = time.Now().Add(o.Timeout)
	}
	// A second line of defence against a test that hangs.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	if len(o.More) > 0 || o.Queue != "" {
		return many(ctx, o)
	}
	others := goleak.IgnoreCurrent()
	a, err := NewTerminal(o.options()).Ask(ctx, o.Question)
	out := outcome{Reply: a.Reply, Digest: a.Digest, Channel: a.Channel, Note: a.Note}
	if err != nil {
		out.Err = err.Error()
	}
	if leak := goleak.Find(others); leak != nil {
		out.Err += " LEAK: " + leak.Error()
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		return 2
	}
	return 0
}

// client stands for the program that starts a proxy: it asks through processes
// of its own, in a way that o.Client names, and passes their outcomes on.
func client(o order) int {
	kind, copies := o.Client, 1
	o.Client = ""
	var attr syscall.SysProcAttr
	switch kind {
	case "pair":
		copies = 2
	case "background":
		attr.Setpgid = true
	case "detached":
		attr.Setsid = true
	case "interface": // a full-screen program owns the terminal
		tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
		if err == nil {
			_, err = xterm.MakeRaw(int(tty.Fd()))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
	}
	var all []*exec.Cmd
	for range copies {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		cmd.SysProcAttr = &attr
		if _, err := begin(cmd, o); err != nil {
			return 2
		}
		all = append(all, cmd)
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
	}
	return 0
}

// begin starts cmd and gives it the order; closing what it returns takes the
// question back.
func begin(cmd *exec.Cmd, o order) (io.Closer, error) {
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return stdin, gob.NewEncoder(stdin).Encode(o)
}

// session is one asking process on one pty.
type session struct {
	t      testing.TB
	screen *termtest.Emulator
	pty    *os.File
	tty    *os.File
	cmd    *exec.Cmd
	order  io.Closer
	stdout strings.Builder
	stderr strings.Builder
	read   chan struct{} // closed when the pty has no more output
	before *xterm.State
}

// start runs the order in a process on a new pty of the given size.
func start(t testing.TB, o order, rows, cols int, env ...string) *session {
	t.Helper()
	s := open(t, rows, cols)
	s.run(o, env...)
	return s
}

// open makes the pty.
func open(t testing.TB, rows, cols int) *session {
	t.Helper()
	p, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	s := &session{t: t, pty: p, tty: tty, screen: termtest.New(rows, cols), read: make(chan struct{})}
	s.screen.Colors = true
	s.resize(rows, cols)
	if s.before, err = xterm.GetState(int(tty.Fd())); err != nil {
		t.Fatal(err)
	}
	go s.pump()
	return s
}

// run starts the asking process.
func (s *session) run(o order, env ...string) {
	s.t.Helper()
	if o.Options.Lock == "" {
		o.Options.Lock = filepath.Join(s.t.TempDir(), "terminal.lock")
	}
	s.cmd = s.command(env...)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	s.cmd.ExtraFiles = []*os.File{s.tty}
	var err error
	if s.order, err = begin(s.cmd, o); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(s.close)
}

func (s *session) command(env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "CLAWAI_ACCESSIBLE=", envOrder+"=1",
		"GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE"))
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

// resize changes the screen first, as a terminal does: with the size of the pty the process draws at once.
func (s *session) resize(rows, cols int) {
	s.screen.Resize(rows, cols)
	if err := pty.Setsize(s.pty, &pty.Winsize{Rows: uint16(rows), Cols: uint16(cols)}); err != nil {
		s.t.Fatal(err)
	}
}

// see waits until the screen shows every text.
func (s *session) see(texts ...string) {
	s.t.Helper()
	s.until(func(string) bool { return true }, texts)
}

// prompt waits until the plain question shows every text and reads a line.
func (s *session) prompt(texts ...string) {
	s.t.Helper()
	s.until(func(shown string) bool { return strings.HasSuffix(strings.TrimSpace(shown), "\n>") }, texts)
}

func (s *session) until(ready func(string) bool, texts []string) {
	s.t.Helper()
	if !s.screen.Wait(patience, func(shown string) bool {
		if !ready(shown) {
			return false
		}
		for _, text := range texts {
			if !strings.Contains(shown, text) {
				return false
			}
		}
		return true
	}) {
		s.t.Fatalf("not seen: %q\nscreen:\n%s\nstderr: %s", texts, s.screen.Text(), s.stacks())
	}
}

// patience is how long a machine with other work may take to show something.
const patience = time.Minute

// stacks is what the asking process wrote, with what it is at.
func (s *session) stacks() string {
	_ = s.cmd.Process.Signal(syscall.SIGABRT) // the others end a question like a person
	time.Sleep(time.Second)                   // for it to be written
	return s.stderr.String()
}

// press types at once.
func (s *session) press(keys string) {
	s.t.Helper()
	if _, err := s.pty.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// answer types as soon as keys are answers.
func (s *session) answer(keys string) {
	s.t.Helper()
	s.see("Return answer")
	s.press(keys)
}

// outcomes waits for the process and gives what came of its questions, having
// checked that the protocol's stream holds nothing else, that the terminal is
// as it was, and that nothing was done to it that must not be.
func (s *session) outcomes() []outcome {
	s.t.Helper()
	if err := s.cmd.Wait(); err != nil {
		s.t.Fatalf("asking process: %v; stderr: %s", err, s.stderr.String())
	}
	var all []outcome
	for d := json.NewDecoder(strings.NewReader(s.stdout.String())); d.More(); {
		var out outcome
		if err := d.Decode(&out); err != nil {
			s.t.Fatalf("stdout is not outcomes (%v): %q", err, s.stdout.String())
		}
		if strings.Contains(out.Err, "LEAK") {
			s.t.Error(out.Err)
		}
		all = append(all, out)
	}
	if s.stderr.Len() > 0 {
		s.t.Errorf("stderr: %s", s.stderr.String())
	}
	if err := s.screen.Complaint(); err != nil {
		s.t.Error(err)
	}
	return all
}

// end is outcomes of one question that leaves the terminal's mode as it was.
func (s *session) end() outcome {
	s.t.Helper()
	all := s.outcomes()
	if len(all) != 1 {
		s.t.Fatalf("%d outcomes, want 1: %s", len(all), s.stdout.String())
	}
	if now, err := xterm.GetState(int(s.tty.Fd())); err != nil || *now != *s.before {
		s.t.Errorf("the terminal's mode was changed (%v)", err)
	}
	return all[0]
}

// hangUp takes the terminal away.
func (s *session) hangUp() {
	s.t.Helper()
	if err := s.pty.Close(); err != nil {
		s.t.Fatal(err)
	}
	_, _ = s.tty.WriteString(" ") // a read that waits keeps the pty open until there is something to read
	<-s.read
	s.screen.HangUp()
}

func (s *session) close() {
	if s.cmd != nil && s.cmd.ProcessState == nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	}
	_ = errors.Join(s.tty.Close(), s.pty.Close())
	<-s.read
}

// testGrace keeps the tests short; the product's own is 300 ms.
const testGrace = 50 * time.Millisecond

const (
	up    = "\x1b[A"
	down  = "\x1b[B"
	enter = "\r"
	esc   = "\x1b"
)

// writeCall is a question about one tool call.
func writeCall(args string) order {
	return order{
		Options: sent{Grace: testGrace, By: "me", View: view.Options{Project: "/p"}},
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
