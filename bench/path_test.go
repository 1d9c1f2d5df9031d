//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/proxy"
)

// TestMain is the driver's small programs, too, when the driver's code starts them.
func TestMain(m *testing.M) {
	if role := childRole(os.Args); role != nil {
		role(os.Args[3:])
		return
	}
	if of := os.Getenv(listing); of != "" {
		var pages, each int
		_, _ = fmt.Sscan(of, &pages, &each)
		listTools(pages, each)
		return
	}
	os.Exit(m.Run()) //nolint:forbidigo // this is main
}

// fd is one end of a pipe, read and written as the command does it, without a poller.
type fd int

func (f fd) Read(p []byte) (int, error)  { return syscall.Read(int(f), p) }
func (f fd) Write(p []byte) (int, error) { return syscall.Write(int(f), p) }

// upstream is the echo server as a goroutine.
type upstream struct {
	fd      // its output
	in   fd // its input
	done chan struct{}
}

func (u *upstream) Write(p []byte) (int, error) { return u.in.Write(p) }
func (u *upstream) Done() <-chan struct{}       { return nil }
func (u *upstream) Status() string              { return "" }

func (u *upstream) Close(context.Context) error {
	_ = syscall.Close(int(u.in))
	<-u.done
	return nil
}

func pipe(t testing.TB) (r, w fd) {
	var ends [2]int
	if err := syscall.Pipe2(ends[:], syscall.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	return fd(ends[0]), fd(ends[1])
}

// throughPath runs what "clawai proxy" runs, in this process: the pump, the gate, the policy
// and the record on disk, before the echo server. So it can be profiled and its
// allocations counted.
func throughPath(t testing.TB, w *way, use func(*process)) {
	t.Helper()
	dir := t.TempDir()
	loaded, err := config.Layers{}.Load(w.prefix[slices.Index(w.prefix, "--policy")+1], base.PolicyOptions("/home/user"))
	if err != nil {
		t.Fatal(err)
	}
	log, err := base.OpenRecord(filepath.Join(dir, "state"), redact.Redacted, audit.SyncNone)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	one, err := session.Open(t.Context(), session.Spec{Policy: loaded, Recorder: log, State: &session.State{Limits: &gate.Meter{}}, Peer: session.Peer{Name: "filesystem"}})
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()

	serverIn, toServer := pipe(t)
	fromServer, serverOut := pipe(t)
	clientIn, toClient := pipe(t)
	fromClient, clientOut := pipe(t)
	up := &upstream{fd: fromServer, in: toServer, done: make(chan struct{})}
	go func() {
		defer close(up.done)
		echo(int(serverIn), int(serverOut))
		_ = syscall.Close(int(serverOut))
	}()
	ended := make(chan error, 1)
	go func() {
		ended <- proxy.Run(context.Background(), proxy.Options{ClientIn: clientIn, ClientOut: clientOut, Server: up, Gate: one.Session, Name: "filesystem"})
	}()
	p := &process{way: *w, in: int(toClient), out: int(fromClient), buf: make([]byte, 1<<20)}
	if err := p.open(); err != nil {
		t.Fatal(err)
	}
	use(p)
	_ = syscall.Close(int(toClient))
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for _, end := range []fd{serverIn, fromServer, clientIn, fromClient, clientOut} {
		_ = syscall.Close(int(end))
	}
}

// manners are those whose calls have a budget, by what stands in budget.json, and how many calls are counted.
var manners = []struct {
	name string
	manner
	calls int
}{
	{"", manner{}, 1000},
	{", after tools/list", manner{listed: true}, 1000},
	{", after tools/list, with _meta", manner{listed: true, meta: true}, 1000},
	{", arguments of 4 KiB", manner{argument: 4 << 10}, 300},
	{", texts of 4 KiB", manner{text: 4 << 10}, 300},
	{", rows of 64 KiB", manner{table: 64 << 10}, 30},
	{", tools/list", manner{lists: true}, 300},
}

// scenario is a way and a manner with a budget.
type scenario struct {
	way
	name  string
	calls int
}

func (b *testbed) scenarios() (all []scenario) {
	for _, w := range b.ways {
		for _, m := range manners {
			if b.commits[w.name] != "" {
				w.manner = m.manner
				all = append(all, scenario{w, policyName(w.name) + m.name, m.calls})
			}
		}
	}
	return all
}

func policyName(way string) string {
	if way == twoRules {
		return "two rules"
	}
	return "init's policy"
}

// eachPath benchmarks each scenario.
func eachPath(b *testing.B, run func(*testing.B, *process)) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), 4))) // as the command does
	bed := builtBed(b)
	for _, s := range bed.scenarios() {
		b.Run(s.name, func(b *testing.B) { throughPath(b, &s.way, func(p *process) { run(b, p) }) })
	}
}

// builtBed is a testbed with clawai, which takes a while to build.
func builtBed(t testing.TB) *testbed {
	bed, err := newTestbed(t.Context(), "", false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bed.close)
	return bed
}

// BenchmarkPath is 64 calls in flight through the path of a call. Its profile is what
// cmd/clawai/default.pgo is made of, and shows where a budget went.
func BenchmarkPath(b *testing.B) {
	eachPath(b, func(b *testing.B, p *process) {
		b.ReportAllocs()
		b.ResetTimer()
		if err := p.inFlight(64, b.N); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
	})
}

// BenchmarkAlone is one call at a time, as p50 is measured.
func BenchmarkAlone(b *testing.B) {
	eachPath(b, func(b *testing.B, p *process) {
		for b.Loop() {
			if err := p.call(0); err != nil {
				b.Fatal(err)
			}
		}
	})
}
