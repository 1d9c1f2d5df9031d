//go:build linux || darwin

package ask

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/text/term"
)

// paper is a terminal that remembers.
type paper struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (p *paper) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all.Write(b)
}

func (p *paper) len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all.Len()
}

func aside(t *testing.T) (*StderrRelay, *os.File, *paper) {
	t.Helper()
	p := &paper{}
	a, err := newStderrRelay(p, filepath.Join(t.TempDir(), "lock"))
	if err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Dup(int(a.Stderr().Fd()))
	if err != nil {
		t.Fatal(err)
	}
	server := os.NewFile(uintptr(fd), "server")
	t.Cleanup(func() { server.Close() })
	a.CloseServerEnd()
	return a, server, p
}

func comes(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for late := time.Now().Add(20 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("never: %s", what)
		}
	}
}

// More than is kept makes the server wait, and all of it comes in its order.
func TestWhatAServerSaysMeanwhileIsKept(t *testing.T) {
	a, server, p := aside(t)
	release, err := a.holdTerminal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("0123456789abcdef", (maxKept+1<<20)/16)
	wrote := make(chan error, 1)
	go func() {
		_, err := server.WriteString(text)
		wrote <- err
	}()
	comes(t, "as much is kept as there is room for", func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return len(a.kept) > maxKept
	})
	if p.len() > 0 || len(wrote) > 0 {
		t.Errorf("%d bytes came meanwhile", p.len())
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.holdTerminal(ended); err == nil {
		t.Error("two questions at once")
	}
	release()
	if err := <-wrote; err != nil {
		t.Error(err)
	}
	comes(t, "all is written", func() bool { return p.len() == len(text) })
	server.Close()
	a.Close()
	if p.all.String() != text {
		t.Error("it came otherwise")
	}
}

// At the end what is left is written, whoever still asks, and a program that keeps
// the pipe open keeps nobody waiting.
func TestTheEndOfWhatAServerSays(t *testing.T) {
	a, server, p := aside(t)
	free, err := term.WaitTurn(t.Context(), a.lock) // another clawai asks
	if err != nil {
		t.Fatal(err)
	}
	defer free.Close()
	if _, err := server.WriteString("last words\n"); err != nil {
		t.Fatal(err)
	}
	comes(t, "it is kept", func() bool { a.mu.Lock(); defer a.mu.Unlock(); return len(a.kept) > 0 })
	if p.len() > 0 {
		t.Error("written over another's question")
	}
	a.Close()
	<-a.done
	if p.all.String() != "last words\n" {
		t.Errorf("left is %q", p.all.String())
	}
}

// Where stderr is no terminal of ours, nothing stands in between.
func TestNoAsideForOtherFiles(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a, err := NewStderrRelay(f, "lock")
	if a != nil || err != nil {
		t.Error(a, err)
	}
	a.CloseServerEnd()
	a.Close()
	release, err := a.holdTerminal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release()
}
