package stdio_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/proxy/stdio"
)

func TestBytesPassUnchangedBothWays(t *testing.T) {
	slow.Test(t)
	defer goleak.VerifyNone(t)
	c := start(t, "echo")
	sent := bytes.Repeat([]byte("frame\n"), 200_000)
	go func() { _, _ = c.Write(sent) }()
	got := make([]byte, len(sent))
	if _, err := io.ReadFull(c, got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, sent) {
		t.Fatal("the server's echo differs from what was sent")
	}
	if err := c.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if c.ExitCode() != 0 || c.Status() != "exit code 0" {
		t.Fatalf("exit %d, %q", c.ExitCode(), c.Status())
	}
}

// ending is how a server in a role ends.
type ending struct {
	role, status string
	code         int
}

func TestExitIsReported(t *testing.T) {
	for _, tc := range []ending{
		{"exit:0", "exit code 0", 0},
		{"exit:7", "exit code 7", 7},
		{"exit:200", "exit code 200", 200},
		suicide,
	} {
		c := start(t, tc.role)
		<-c.Done()
		if c.ExitCode() != tc.code || c.Status() != tc.status {
			t.Errorf("%s: exit %d, %q", tc.role, c.ExitCode(), c.Status())
		}
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("%s: read after the end: %v, want EOF", tc.role, err)
		}
	}
}

func TestCloseEndsWhoeverWillNotGo(t *testing.T) {
	slow.Test(t)
	for role, n := range map[string]int{"echo": 0, "deaf": 1, "family": 2, "wrapper": 2} {
		t.Run(role, func(t *testing.T) {
			defer goleak.VerifyNone(t)
			c := start(t, role)
			ids := pids(t, c, n)
			hurried, cancel := context.WithCancel(t.Context())
			cancel()
			if err := c.Close(hurried); err != nil {
				t.Fatal(err)
			}
			gone(t, patience, ids...)
		})
	}
}

// TestWhatAServerLeavesBehind: the server has ended with its input, and given its code; what
// it started has not.
func TestWhatAServerLeavesBehind(t *testing.T) {
	slow.Test(t)
	defer goleak.VerifyNone(t)
	c := start(t, "orphans")
	ids := pids(t, c, 1)
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	gone(t, patience, ids...)
	if c.ExitCode() != 7 || c.WasForced() {
		t.Errorf("exit %d, forced %v: the server ended by itself", c.ExitCode(), c.WasForced())
	}
}

func TestCloseFreesAWriterThatIsStuck(t *testing.T) {
	slow.Test(t)
	defer goleak.VerifyNone(t)
	c := start(t, "deaf")
	stuck := make(chan error)
	go func() {
		_, err := c.Write(make([]byte, 1<<20))
		stuck <- err
	}()
	pids(t, c, 1)
	hurried, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Close(hurried); err != nil {
		t.Fatal(err)
	}
	if err := <-stuck; err == nil {
		t.Fatal("writing a megabyte to a server that reads nothing succeeded")
	}
	if _, err := c.Write([]byte("x")); !errors.Is(err, os.ErrClosed) {
		t.Fatalf("write after close: %v", err)
	}
}

// When the proxy is killed without a chance to clean up, nobody may be left:
// neither the server nor what it started.
func TestKilledOwnerLeavesNobody(t *testing.T) {
	slow.Test(t)
	for play, n := range map[string]int{"owner:deaf": 1, "owner:family": 2, "early owner:family": 2, "owner:wrapper": 2} {
		t.Run(play, func(t *testing.T) {
			t.Parallel()
			owner := exec.Command(os.Args[0])
			owner.Env = append(os.Environ(), role+"="+play)
			out, err := owner.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := owner.Start(); err != nil {
				t.Fatal(err)
			}
			ids := pids(t, out, n)
			if err := owner.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = owner.Wait()
			gone(t, patience, ids...)
		})
	}
}

// A watchdog that was started before its child serves one child, and ends with it. One that no child has
// taken ends when it is stopped.
func TestWatchdogStartedBefore(t *testing.T) {
	defer goleak.VerifyNone(t)
	unused, shared := stdio.StartWatchdog(), stdio.StartWatchdog()
	unused.Stop()
	unused.Stop()
	if _, err := stdio.Start(stdio.Options{Args: []string{"no-such-command-anywhere"}, Watchdog: shared}); err == nil {
		t.Error("it started")
	}
	for range 2 { // the second child gets a watchdog of its own
		c, err := stdio.Start(stdio.Options{Args: []string{os.Args[0]}, Env: append(os.Environ(), role+"=echo"), Watchdog: shared})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if c.WasForced() {
			t.Error("it did not end with its input")
		}
	}
	shared.Stop()
}

func TestStderrIsPassedThrough(t *testing.T) {
	slow.Test(t)
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	c, err := stdio.Start(stdio.Options{
		Args: []string{os.Args[0]}, Env: append(os.Environ(), role+"=stderr:you"), Stderr: file,
	})
	if err != nil {
		t.Fatal(err)
	}
	<-c.Done()
	_ = c.Close(context.Background())
	got, err := os.ReadFile(file.Name())
	if err != nil || string(got) != "heard you\n" {
		t.Fatalf("stderr %q, %v", got, err)
	}
}

// What a server says when its input has ended is read, though it is gone by then.
func TestLastWordsAreRead(t *testing.T) {
	defer goleak.VerifyNone(t)
	c := start(t, "last")
	read := make(chan string)
	go func() {
		<-c.Done()
		time.Sleep(50 * time.Millisecond) // a busy machine
		got, _ := io.ReadAll(c)
		read <- string(got)
	}()
	if err := c.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := <-read; got != lastWords {
		t.Errorf("%d bytes were read, %d said", len(got), len(lastWords))
	}
}
