//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/clawai/clawai/internal/session"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/policy"
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
func throughPath(t testing.TB, use func(*process)) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "policy.toml")
	if err := os.WriteFile(file, []byte(policyText), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, err := config.Layers{}.Load(file, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	log, err := base.OpenRecord(filepath.Join(dir, "state"), redact.Redacted, audit.SyncNone)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	one, err := session.Open(t.Context(), session.Spec{Policy: loaded, Recorder: log, State: session.InMemory()})
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
		ended <- proxy.Run(context.Background(), proxy.Options{ClientIn: clientIn, ClientOut: clientOut, Server: up, Gate: one.Session})
	}()
	use(&process{way: way{name: "path"}, in: int(toClient), out: int(fromClient), buf: make([]byte, 1<<20)})
	_ = syscall.Close(int(toClient))
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for _, end := range []fd{serverIn, fromServer, clientIn, fromClient, clientOut} {
		_ = syscall.Close(int(end))
	}
}

// BenchmarkPath is 64 calls in flight through the path of a call. Its profile is what
// cmd/clawai/default.pgo is made of, and shows where a budget went.
func BenchmarkPath(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), 4))) // as the command does
	throughPath(b, func(p *process) {
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
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), 4)))
	throughPath(b, func(p *process) {
		for b.Loop() {
			if err := p.call(0); err != nil {
				b.Fatal(err)
			}
		}
	})
}
