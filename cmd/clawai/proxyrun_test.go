//go:build unix

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
)

// patience is how long anything may take on a machine that is busy. What has to be
// quick is tried again where it was not (TestAClientThatWillNotWait).
const patience = time.Minute

// inTime is less than any remote server is waited for, and far more than an end takes.
const inTime = 8 * time.Second

const allowTools = "[[rule]]\naction = \"allow\"\ntool = \"*\"\n"

// running is a clawai proxy in a process of its own, around a toyserver.
type running struct {
	t      testing.TB
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	unread io.Closer // what out reads
	dir    string
	exited chan struct{}
	state  *os.ProcessState // once exited
}

// prepare makes the folders and the command line, and starts nothing.
func prepare(t *testing.T, serverArgs ...string) *running {
	t.Helper()
	dir := t.TempDir()
	r := &running{t: t, dir: dir, exited: make(chan struct{})}
	r.write("policy.toml", allowTools)
	args := append([]string{"proxy", "--policy", r.path("policy.toml"), "--state", r.path("state"), "--",
		"toyserver", "-pid", r.path("pid"), "-heard", r.path("heard")}, serverArgs...)
	r.cmd = exec.Command("clawai", args...)
	r.cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "CLAWAI_CONFIG_DIR="+r.dir)
	return r
}

// start runs it; with the first answer the session stands.
func (r *running) start() *running {
	r.t.Helper()
	stderr, err := os.Create(r.path("stderr"))
	if err != nil {
		r.t.Fatal(err)
	}
	defer stderr.Close()
	r.cmd.Stderr = stderr
	in, out := startPiped(r.t, r.cmd)
	go func() {
		defer close(r.exited)
		r.state, _ = r.cmd.Process.Wait()
	}()
	r.t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		<-r.exited
	})
	r.in, r.out, r.unread = in, bufio.NewReader(out), out
	return r
}

func launchProxy(t *testing.T, serverArgs ...string) *running {
	t.Helper()
	r := prepare(t, serverArgs...).start()
	r.call("0", "hello")
	if got := r.next(); !strings.Contains(got, `"id":0,"result"`) {
		t.Fatalf("first answer: %s (stderr %s)", got, r.read("stderr"))
	}
	return r
}

func (r *running) path(name string) string { return filepath.Join(r.dir, name) }

func (r *running) read(name string) string {
	text, err := os.ReadFile(r.path(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.t.Fatal(err)
	}
	return string(text)
}

func (r *running) write(name, text string) {
	r.t.Helper()
	if err := os.WriteFile(r.path(name), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *running) call(id, tool string) {
	r.t.Helper()
	if _, err := fmt.Fprintf(r.in, `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q}}`+"\n", id, tool); err != nil {
		r.t.Fatal(err)
	}
}

func (r *running) next() string {
	r.t.Helper()
	got := make(chan string, 1)
	go func() {
		line, err := r.out.ReadString('\n')
		if err != nil {
			line = "no answer: " + err.Error()
		}
		got <- line
	}()
	select {
	case line := <-got:
		return line
	case <-time.After(patience):
		r.t.Fatalf("no answer (stderr %s)", r.read("stderr"))
		return ""
	}
}

// child is the server's process id.
func (r *running) child() int {
	r.t.Helper()
	pid, err := strconv.Atoi(r.read("pid"))
	if err != nil {
		r.t.Fatal(err)
	}
	return pid
}

// code waits for the end and returns the exit code.
func (r *running) code(within time.Duration) int {
	r.t.Helper()
	select {
	case <-r.exited:
	case <-time.After(within):
		r.t.Fatalf("still running after %v", within)
	}
	return r.state.ExitCode()
}

// gone waits until the server's process is no more, a zombie aside.
func (r *running) gone(within time.Duration) {
	r.t.Helper()
	pid := r.child()
	for late := time.After(within); alive(pid); {
		select {
		case <-late:
			r.t.Fatalf("the server %d outlives its proxy", pid)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func alive(pid int) bool {
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		_, after, _ := strings.Cut(string(stat), ") ")
		return !strings.HasPrefix(after, "Z")
	}
	return syscall.Kill(pid, 0) == nil
}

// records are the events of a kind.
func (r *running) records(kind event.Kind) (es []event.Entry) {
	r.t.Helper()
	for e, err := range audit.Read(filepath.Join(r.path("state"), "audit"), audit.Filter{Kinds: []event.Kind{kind}}) {
		if err != nil {
			r.t.Error(err)
			continue
		}
		es = append(es, e)
	}
	return es
}

// recorded waits for an event of this kind and code.
func (r *running) recorded(kind event.Kind, code string) {
	r.t.Helper()
	r.recordedAfter(0, kind, code)
}

// times counts the events of this kind and code.
func (r *running) times(kind event.Kind, code string) (n int) {
	for _, e := range r.records(kind) {
		if e.Code == code {
			n++
		}
	}
	return n
}

// recordedAfter waits for one more event of this kind and code than there were.
func (r *running) recordedAfter(were int, kind event.Kind, code string) {
	r.t.Helper()
	for late := time.After(patience); ; {
		if r.times(kind, code) > were {
			return
		}
		select {
		case <-late:
			r.t.Fatalf("no record %s %s", kind, code)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (r *running) quiet() {
	r.t.Helper()
	if text := r.read("stderr"); text != "" {
		r.t.Errorf("stderr is not empty: %s", text)
	}
}
