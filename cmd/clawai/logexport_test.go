//go:build unix

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/state/audit"
)

// follower is a running clawai log export --follow.
type follower struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func followExport(t *testing.T, args ...string) *follower {
	t.Helper()
	f := &follower{t: t, cmd: exec.Command("clawai", append([]string{"log", "export", "--follow"}, args...)...)}
	f.cmd.Stderr = os.Stderr
	out, err := f.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	f.lines = bufio.NewScanner(out)
	return f
}

func (f *follower) next(tool string) {
	f.t.Helper()
	if !f.lines.Scan() || !strings.Contains(f.lines.Text(), " cs1="+tool+" ") {
		f.t.Fatalf("%q instead of %s", f.lines.Text(), tool)
	}
}

// end interrupts it. Nothing comes any more.
func (f *follower) end() {
	f.t.Helper()
	if err := f.cmd.Process.Signal(os.Interrupt); err != nil {
		f.t.Fatal(err)
	}
	if f.lines.Scan() {
		f.t.Fatalf("%q after the last record", f.lines.Text())
	}
	var exit *exec.ExitError
	if err := f.cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != cmdline.ExitInterrupted {
		f.t.Fatal(err)
	}
}

// An export that is ended and started again goes on where it was.
func TestExportGoesOn(t *testing.T) {
	dir := recorded(t, call("first", `{}`, "allow"), call("second", `{}`, "deny"))
	cursor := filepath.Join(t.TempDir(), "cursor")
	f := followExport(t, "--format", "cef", "--cursor", cursor)
	f.next("first")
	f.next("second")
	l, err := audit.Open(dir, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	record := func(tool string) {
		t.Helper()
		if err := l.Record(call(tool, `{}`, "deny")); err != nil {
			t.Fatal(err)
		}
	}
	record("third")
	f.next("third")
	f.end()
	record("fourth")
	f = followExport(t, "--format", "cef", "--cursor", cursor)
	f.next("fourth")
	// A second export with the same cursor would export twice.
	if code, _, errs := clawai(t, "log", "export", "--format", "cef", "--cursor", cursor); code != cmdline.ExitUsage || !strings.Contains(errs, "each export needs a file of its own") {
		t.Error(code, errs)
	}
	record("fifth")
	f.next("fifth")
	f.end()
	if code, out, errs := clawai(t, "log", "export", "--format", "cef", "--cursor", cursor); code != 0 || out != "" {
		t.Error(code, out, errs)
	}
}

// A receiver of OTLP that is away for a while gets all, and one that stays away is named with the record
// at which the export stopped; the next one begins there.
func TestExportToOTLP(t *testing.T) {
	calls := make([]string, 150)
	dir := recorded(t)
	l, err := audit.Open(dir, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range calls {
		calls[i] = fmt.Sprintf("tool%03d", i)
		if err := l.Record(call(calls[i], `{}`, "allow")); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var took []string
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		text, _ := io.ReadAll(r.Body)
		requests++
		switch requests {
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		case 4:
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		for part := range strings.SplitSeq(string(text), `"key":"gen_ai.tool.name","value":{"stringValue":"`) {
			if tool, _, _ := strings.Cut(part, `"`); strings.HasPrefix(tool, "tool") {
				took = append(took, tool)
			}
		}
	}))
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	cursor := filepath.Join(t.TempDir(), "cursor")
	code, out, errs := clawai(t, "log", "export", "--format", "otlp", "--cursor", cursor)
	want := "was taken for sure"
	if requests < 4 { // the reader was slower than the receiver on this machine, so there were other batches
		t.Fatalf("%d requests for %d events: more than one batch was expected", requests, len(calls))
	}
	if code != cmdline.ExitFailed || out != "" || !strings.Contains(errs, want) || !strings.Contains(errs, "401 Unauthorized") {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
	if code, _, errs := clawai(t, "log", "export", "--format", "otlp", "--cursor", cursor); code != 0 {
		t.Errorf("exit %d, %q", code, errs)
	}
	if strings.Join(took, " ") != strings.Join(calls, " ") {
		t.Errorf("%q", took)
	}
}

// A receiver that takes its time holds up nobody who is recorded, and what was read is delivered at an
// interrupt.
func TestExportDeliversWhatWasRead(t *testing.T) {
	dir := recorded(t, call("first", `{}`, "allow"))
	asked, took := make(chan bool, 10), make(chan bool, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- true
		_, _ = io.Copy(io.Discard, r.Body)
		time.Sleep(200 * time.Millisecond)
		took <- true
	}))
	defer server.Close()
	cursor := filepath.Join(t.TempDir(), "cursor")
	f := followExport(t, "--format", "otlp", "--to", server.URL, "--cursor", cursor)
	<-asked
	f.end()
	<-took
	text, err := os.ReadFile(cursor)
	segments, _ := filepath.Glob(filepath.Join(dir, "2*"))
	if err != nil || len(segments) != 1 || !strings.Contains(string(text), `:2}`) {
		t.Errorf("%v %s", err, text)
	}
}
