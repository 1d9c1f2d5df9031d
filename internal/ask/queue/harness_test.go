package queue_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
)

// roles are what this binary does when a test starts it again as a process of
// its own: args are what the test gave, dir is the queue's folder.
var roles = map[string]func(dir string, args []string) error{}

func TestMain(m *testing.M) {
	if role := os.Getenv("QUEUE_ROLE"); role != "" {
		if err := roles[role](os.Getenv("QUEUE_DIR"), os.Args[1:]); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	slow.Waiting()
	goleak.VerifyTestMain(m)
}

// child is another process.
type child struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func start(t testing.TB, role, dir string, args ...string) *child {
	t.Helper()
	c := &child{t: t, cmd: exec.Command(os.Args[0], args...)}
	c.cmd.Env = append(os.Environ(), "QUEUE_ROLE="+role, "QUEUE_DIR="+dir, "GORACE=atexit_sleep_ms=0")
	c.cmd.Stderr = os.Stderr
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.kill)
	return c
}

// line is the next thing the process says; "" when it has ended.
func (c *child) line() string {
	s, _ := c.out.ReadString('\n')
	return strings.TrimSpace(s)
}

func (c *child) expect(want string) {
	c.t.Helper()
	if got := c.line(); got != want {
		c.t.Fatalf("the process said %q, not %q", got, want)
	}
}

// rest is everything else it says, until it ends by itself.
func (c *child) rest() string {
	all, _ := io.ReadAll(c.out)
	_ = c.cmd.Wait()
	return strings.TrimSpace(string(all))
}

// kill is kill -9.
func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

// die is kill -9 of this process.
func die() {
	self, _ := os.FindProcess(os.Getpid())
	_ = self.Kill()
	select {}
}

// untilTold waits for the test.
func untilTold() { _, _ = bufio.NewReader(os.Stdin).ReadString('\n') }

var ctx = context.Background()

func open(t testing.TB, dir string, o queue.Options) *queue.Queue {
	t.Helper()
	q, err := queue.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	})
	return q
}

// asProxy does what a proxy in a process of its own does.
func asProxy(dir, id string, o queue.Options, do func(*queue.Queue, *queue.Proxy) error) error {
	q, err := queue.Open(dir, o)
	if err != nil {
		return err
	}
	p, err := q.Attach(queue.Session{ID: id})
	if err != nil {
		return errors.Join(err, q.Close())
	}
	return errors.Join(do(q, p), p.Close(), q.Close())
}

func attach(t testing.TB, q *queue.Queue, id string) *queue.Proxy {
	t.Helper()
	p, err := q.Attach(queue.Session{ID: id, Server: "files", Client: "editor 1.2", Project: "/home/me/work"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// newQueue is a queue with one proxy, and another look at the same folder.
func newQueue(t testing.TB) (*queue.Proxy, *queue.Queue, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "queue")
	// The check is so rare that a test that needs it does not end.
	o := queue.Options{Check: time.Hour}
	other := open(t, dir, o)
	return attach(t, open(t, dir, o), "s1"), other, dir
}

// write is a request to write a file.
func write(args string) queue.Request {
	return queue.Request{
		Deadline: time.Now().Add(45 * time.Second),
		Calls: []policy.Call{{Server: "files", Method: "tools/call", Subject: policy.ToolSubject,
			Names: []string{"write_file"}, Args: []byte(args)}},
		Digest:   sha256.Sum256([]byte(args)),
		Rule:     policy.Rule{Action: policy.Prompt, Description: "ask before writing", Pos: policy.Position{File: "/p.toml", Line: 7, Column: 1}, Index: 2},
		Risk:     "routine",
		Revision: "0123456789ab",
		Lasting:  true,
		Offers:   []view.Offer{{Scope: "exact", Title: "this very call", Allow: "[[rule]]\nargs = '" + args + "'\n", Example: args}},
	}
}

func put(t testing.TB, p *queue.Proxy, args string) *queue.Ticket {
	t.Helper()
	ticket, err := p.Put(ctx, write(args))
	if err != nil {
		t.Fatal(err)
	}
	return ticket
}

// soon bounds what a notification may take on a busy machine.
func soon(t testing.TB) context.Context {
	c, cancel := context.WithTimeout(ctx, 30*time.Second)
	t.Cleanup(cancel)
	return c
}

func answer(r gate.Reply, by string) queue.Answer {
	return queue.Answer{Reply: r, Channel: "console", By: by, Words: "as you like"}
}

func contextWithCancel(t testing.TB) (context.Context, context.CancelFunc) {
	c, cancel := context.WithCancel(ctx)
	t.Cleanup(cancel)
	return c, cancel
}
