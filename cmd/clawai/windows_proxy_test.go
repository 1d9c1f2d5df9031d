//go:build windows

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/testing/slow"
)

// patience is how long anything may take on a machine that is busy.
const patience = time.Minute

const allowTools = "[[rule]]\naction = \"allow\"\ntool = \"*\"\n"

// running is a clawai proxy in a process of its own, around a toyserver.
type running struct {
	t     *testing.T
	own   string // what is this one's alone
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	dir   string
	ended chan struct{}
	state *os.ProcessState // once ended
}

// launch starts a proxy in dir; with the first answer the session stands. It has a
// console of its own, which nobody sees.
func launch(t *testing.T, dir, rules string, serverArgs ...string) *running {
	t.Helper()
	r := &running{t: t, dir: dir, own: t.TempDir(), ended: make(chan struct{})}
	if err := os.WriteFile(r.path("policy.toml"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"proxy", "--policy", r.path("policy.toml"), "--state", r.path("state"), "--", "toyserver", "-pid", filepath.Join(r.own, "pid")}, serverArgs...)
	r.cmd = exec.Command("clawai", args...)
	r.cmd.Env = r.environ()
	r.cmd.SysProcAttr = &windows.SysProcAttr{CreationFlags: windows.CREATE_NO_WINDOW}
	stderr, err := os.Create(filepath.Join(r.own, "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	r.cmd.Stderr = stderr
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.out = bufio.NewReader(out)
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(r.ended)
		r.state, _ = r.cmd.Process.Wait()
	}()
	t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		<-r.ended
		_ = out.Close()
	})
	r.call(0, "hello")
	r.answers(0, `"result"`)
	return r
}

func (r *running) environ() []string {
	return append(os.Environ(), "CLAWAI_CONFIG_DIR="+r.dir, "CLAWAI_STATE_DIR="+r.path("state"), "CLAWAI_ASK_NOBODY=wait", "CLAWAI_ASK_TIMEOUT=5m")
}

func (r *running) path(name string) string { return filepath.Join(r.dir, name) }

func (r *running) call(id int, tool string) {
	r.t.Helper()
	if _, err := fmt.Fprintf(r.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q}}`+"\n", id, tool); err != nil {
		r.t.Fatal(err)
	}
}

// answers demands the answer to a call next, with a text in it.
func (r *running) answers(id int, text string) {
	r.t.Helper()
	line, err := r.out.ReadString('\n')
	if err != nil || !strings.Contains(line, fmt.Sprintf(`"id":%d,`, id)) || !strings.Contains(line, text) {
		said, _ := os.ReadFile(filepath.Join(r.own, "stderr"))
		r.t.Fatalf("call %d: %q, %v (stderr %s)", id, line, err, said)
	}
}

// over waits until the proxy and its server have ended.
func (r *running) over() {
	r.t.Helper()
	select {
	case <-r.ended:
	case <-time.After(patience):
		r.t.Fatal("the proxy still runs")
	}
	text, err := os.ReadFile(filepath.Join(r.own, "pid"))
	if err != nil {
		r.t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		r.t.Fatal(err)
	}
	server, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return // it is gone
	}
	defer func() { _ = windows.CloseHandle(server) }()
	if e, err := windows.WaitForSingleObject(server, uint32(patience.Milliseconds())); err != nil || e != windows.WAIT_OBJECT_0 {
		r.t.Fatalf("the server %d outlives its proxy (%v)", pid, err)
	}
}

// kept verifies the record and gives its events of a kind.
func (r *running) kept(kind event.Kind) (all []event.Entry) {
	r.t.Helper()
	dir := filepath.Join(r.path("state"), "audit")
	if report, err := audit.Verify(dir, "", audit.Retention{}); err != nil || len(report.Findings) > 0 {
		r.t.Errorf("the record: %+v, %v", report, err)
	}
	for e, err := range audit.Read(dir, audit.Filter{Kinds: []event.Kind{kind}}) {
		if err != nil {
			r.t.Error(err)
		}
		all = append(all, e)
	}
	return all
}

// TestWindowsSoak: a thousand calls are answered, in order, and recorded.
func TestWindowsSoak(t *testing.T) {
	t.Parallel()
	r := launch(t, t.TempDir(), allowTools)
	n, together := slow.Rounds(1000, 100_000), 50
	for id := 1; id <= n; id += together {
		for i := range together {
			r.call(id+i, "hello")
		}
		for i := range together {
			r.answers(id+i, `"result"`)
		}
	}
	_ = r.in.Close()
	r.over()
	if got := len(r.kept(event.Decision)); got != n+1 {
		t.Errorf("%d decisions are recorded, not %d", got, n+1)
	}
	if code := r.state.ExitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestWindowsKills: proxies that are killed leave no server behind, and a record that
// the next one goes on with.
func TestWindowsKills(t *testing.T) {
	t.Parallel()
	dir, n := t.TempDir(), slow.Rounds(20, 500)
	for range n / 4 {
		var all []*running
		for i := range 4 {
			r := launch(t, dir, allowTools)
			r.call(1, "hang")
			if i%2 == 1 {
				r.call(2, "hello")
				r.answers(2, `"result"`)
			}
			all = append(all, r)
		}
		for _, r := range all {
			_ = r.cmd.Process.Kill()
		}
		for _, r := range all {
			r.over()
		}
	}
	r := launch(t, dir, allowTools)
	_ = r.in.Close()
	r.over()
	if got := len(r.kept(event.Decision)); got < n+n/2 {
		t.Errorf("%d decisions are recorded", got)
	}
}
