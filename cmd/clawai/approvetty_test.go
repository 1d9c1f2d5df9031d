//go:build linux || darwin

package main

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	xterm "golang.org/x/term"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/termtest"
	"github.com/clawai/clawai/policy"
)

// watcher is somebody at a terminal of their own on which clawai runs, seen
// through an emulator that complains about what a console must not do.
type watcher struct {
	t      *testing.T
	cmd    *exec.Cmd
	pty    *os.File
	tty    *os.File
	screen *termtest.Emulator
	read   chan struct{}
	ended  chan struct{}
	blind  atomic.Bool // to what is written from now on
	before *xterm.State
}

// watch starts clawai with args on a new terminal.
func watch(t *testing.T, home string, args ...string) *watcher {
	t.Helper()
	return watchAs(t, home, []string{"TERM=xterm-256color"}, 30, 100, args...)
}

func watchAs(t *testing.T, home string, env []string, rows, cols int, args ...string) *watcher {
	t.Helper()
	path, err := exec.LookPath("clawai")
	if err != nil {
		t.Fatal(err)
	}
	w := &watcher{t: t, cmd: exec.Command(path, args...), screen: termtest.New(rows, cols), read: make(chan struct{}), ended: make(chan struct{})}
	w.screen.Colors = true
	if w.pty, w.tty, err = pty.Open(); err != nil {
		t.Fatal(err)
	}
	w.resize(rows, cols)
	if w.before, err = xterm.GetState(int(w.tty.Fd())); err != nil {
		t.Fatal(err)
	}
	w.cmd.Dir = home
	w.cmd.Env = append([]string{"HOME=" + home, "PATH=" + filepath.Dir(path) + ":/usr/bin:/bin", "TMPDIR=" + home + "/tmp"}, env...)
	w.cmd.Stdin, w.cmd.Stdout, w.cmd.Stderr = w.tty, w.tty, w.tty
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if signal.Ignored(os.Interrupt) { // so is ours, when a shell has started us in the background
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go w.pump()
	go func() {
		defer close(w.ended)
		_ = w.cmd.Wait()
	}()
	t.Cleanup(w.close)
	return w
}

// pump shows what was written in one go at once: between two reads of one
// picture there is another on the screen, half of which is old.
func (w *watcher) pump() {
	defer close(w.read)
	var picture []byte
	fd := int32(w.pty.Fd()) // from here on a read waits, whatever its deadline
	for buf := make([]byte, 4096); ; {
		var err error
		if ready, _ := unix.Poll([]unix.PollFd{{Fd: fd, Events: unix.POLLIN}}, 20); ready > 0 {
			var n int
			n, err = w.pty.Read(buf)
			if picture = append(picture, buf[:n]...); err == nil {
				continue
			}
		}
		w.screen.Write(picture)
		if picture = nil; err != nil || w.blind.Load() {
			return
		}
	}
}

func (w *watcher) close() {
	_ = w.cmd.Process.Kill()
	<-w.ended
	_ = w.tty.Close()
	<-w.read // nobody has the terminal any more
	_ = w.pty.Close()
}

// resize changes the screen first, as a terminal does: with the size of the pty the process draws at once.
func (w *watcher) resize(rows, cols int) {
	w.screen.Resize(rows, cols)
	if err := pty.Setsize(w.pty, &pty.Winsize{Rows: uint16(rows), Cols: uint16(cols)}); err != nil {
		w.t.Fatal(err)
	}
}

// sees waits until the screen shows every text.
func (w *watcher) sees(texts ...string) {
	w.t.Helper()
	for _, text := range texts {
		if !w.screen.Wait(patience, func(shown string) bool { return strings.Contains(shown, text) }) {
			w.t.Fatalf("%q is not to be seen:\n%s", text, w.screen.Text())
		}
	}
}

func (w *watcher) types(keys string) {
	w.t.Helper()
	if _, err := w.pty.WriteString(keys); err != nil {
		w.t.Fatal(err)
	}
}

// chooses types a key until a text is seen. After a page has changed no key counts for a moment, and
// the page does not show when that is over.
func (w *watcher) chooses(key, text string) {
	w.t.Helper()
	for end := time.Now().Add(patience); ; {
		w.types(key)
		if w.screen.Wait(3*time.Second, func(shown string) bool { return strings.Contains(shown, text) }) {
			return
		}
		if time.Now().After(end) {
			w.t.Fatalf("%q does not show %q:\n%s", key, text, w.screen.Text())
		}
	}
}

// quits types q until the program ends.
func (w *watcher) quits(code int) {
	w.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		w.types("q")
		select {
		case <-w.ended:
			w.leaves(code)
			return
		case <-time.After(3 * time.Second):
		}
	}
	w.t.Fatalf("it does not end\n%s", w.screen.Text())
}

// answers types one key as soon as keys are answers.
func (w *watcher) answers(key string) {
	w.t.Helper()
	w.settles()
	w.types(key)
}

// settles waits until keys are answers: what they do is on the screen again.
func (w *watcher) settles() {
	w.t.Helper()
	if !w.screen.Wait(patience, func(shown string) bool {
		return !strings.Contains(shown, "One moment") && strings.Contains(shown, "leave") || strings.Contains(shown, "Esc go back")
	}) {
		w.t.Fatalf("keys are never answers:\n%s", w.screen.Text())
	}
}

// leaves waits for the end: the exit code, the terminal as it was, and nothing
// done to it that must not be.
func (w *watcher) leaves(code int) {
	w.t.Helper()
	select {
	case <-w.ended:
	case <-time.After(patience):
		w.t.Fatalf("it does not end\n%s", w.screen.Text())
	}
	if got := w.cmd.ProcessState.ExitCode(); got != code {
		w.t.Errorf("exit code %d, want %d\n%s", got, code, w.screen.Text())
	}
	if err := w.screen.Complaint(); err != nil {
		w.t.Error(err)
	}
	if now, err := xterm.GetState(int(w.tty.Fd())); err != nil || *now != *w.before {
		w.t.Errorf("the terminal's mode was changed (%v)", err)
	}
}

// asker is a proxy's side of the queue.
type asker struct {
	t     *testing.T
	q     *queue.Queue
	proxy *queue.Proxy
}

func asks(t *testing.T, home string) *asker {
	t.Helper()
	state := filepath.Join(home, ".local", "state", "clawai")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	q, err := queue.Open(filepath.Join(state, "queue"), queue.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := q.Attach(queue.Session{ID: "11111111-2222-4333-8444-555555555555", Server: "files", Client: "some-client 1.2", Project: home, PID: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	})
	return &asker{t, q, p}
}

// about is a question about one tool call.
func about(tool, args string) queue.Request {
	return queue.Request{
		Deadline: time.Now().Add(45 * time.Second), Server: "files", Client: "some-client 1.2", Risk: "routine", Lasting: true,
		Calls: []policy.Call{{Server: "files", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{tool}, Args: []byte(args)}},
		Rule:  policy.Rule{Action: policy.Prompt, Pos: policy.Position{File: "policy.toml", Line: 7}, Description: "Ask first"},
	}
}

func (a *asker) put(r queue.Request) *queue.Ticket {
	a.t.Helper()
	ticket, err := a.proxy.Put(context.Background(), r)
	if err != nil {
		a.t.Fatal(err)
	}
	return ticket
}

// gets waits for the answer to a question.
func (a *asker) gets(ticket *queue.Ticket, want gate.Reply) queue.Answer {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	got, err := ticket.Wait(ctx)
	if err != nil || got.Reply != want {
		a.t.Errorf("got %+v, %v; want %v", got, err, want)
	}
	return got
}

func (a *asker) pends(ticket *queue.Ticket) {
	a.t.Helper()
	if r, err := a.q.Get(context.Background(), ticket.ID()); err != nil || r.Status != queue.Pending {
		a.t.Errorf("it is %s (%v) and should wait", r.Status, err)
	}
}

// attended waits until the queue is attended by want (a comma between kinds).
func (a *asker) attended(want string) {
	a.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		kinds, err := a.q.Answerers()
		if err == nil && strings.Join(kinds, ",") == want {
			return
		}
		if time.Now().After(end) {
			a.t.Fatalf("attended by %q (%v), want %q", kinds, err, want)
		}
	}
}
