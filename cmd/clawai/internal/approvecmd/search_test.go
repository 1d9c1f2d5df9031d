package approvecmd

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/overview"
	"github.com/clawai/clawai/internal/ask/console"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/testing/slow"
)

// writeCalls writes a record of n calls with their replies. One call in 100,000, the first of them,
// has the word needle.
func writeCalls(t *testing.T, o *overview.Overview, n int) {
	t.Helper()
	l, err := audit.Open(o.Dir, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	for i := range n {
		name := "file"
		if i%100_000 == 0 {
			name = "needle"
		}
		call := &event.Event{
			Kind: event.Decision, Server: "files", Direction: "client", Method: "tools/call", ID: []byte("1"), Subject: "tool", Names: []string{"read_file"},
			Args: fmt.Appendf(nil, `{"path":"/home/user/projects/app/%s-%d.go"}`, name, i), Policy: "allow", Decision: "allow", Stage: "policy", Code: "allowed_by_rule",
			RuleFile: "/home/user/.config/clawai/policy.toml", RuleLine: 7, RuleText: "Read files in the projects folder",
		}
		if err := l.Record(call); err != nil {
			t.Fatal(err)
		}
		if err := l.Record(&event.Event{Kind: event.Outcome, Server: "files", Direction: "server", Method: "tools/call", ID: []byte("1"), Bytes: 100, Ref: call.Record}); err != nil {
			t.Fatal(err)
		}
	}
}

// residentKB returns the resident memory of the process; 0 where the system does not say it.
func residentKB() int {
	src, _ := os.ReadFile("/proc/self/status")
	_, after, _ := strings.Cut(string(src), "VmRSS:")
	n, _ := strconv.Atoi(strings.Fields(after + " 0")[0])
	return n
}

// The filter finds calls anywhere in the record, and neither the search nor a record that is played
// on the screen keeps what it has read.
func TestSearchCalls(t *testing.T) {
	n := slow.Rounds(3_000, 1_000_000)
	dirs := config.Folders{State: t.TempDir(), Home: "/home/user"}
	o := overview.New(dirs, 0)
	writeCalls(t, o, n)
	runtime.GC()
	before, most, start := residentKB(), 0, time.Now()
	var found []console.Row
	var last int64
	err := searchCalls(o)(t.Context(), "needle", func(r console.Row) {
		if len(found) == 0 || found[len(found)-1].ID != r.ID {
			found = append(found, r)
		}
	}, func(read, all int64) {
		if read < last || read > all {
			t.Fatalf("read %d after %d of %d", read, last, all)
		}
		if read>>24 != last>>24 {
			most = max(most, residentKB())
		}
		last = read
	})
	if want := (n + 99_999) / 100_000; err != nil || len(found) != want || last == 0 {
		t.Errorf("found %d, want %d: %v", len(found), want, err)
	}
	searched := time.Since(start)
	ctx, stop := context.WithCancel(t.Context())
	shown := 0
	err = followCalls(o)(ctx, func(console.Row) {
		if shown++; shown >= min(n, console.MaxCalls) {
			stop()
		}
	}, func(string) {})
	if err != nil && ctx.Err() == nil {
		t.Error(err)
	}
	t.Logf("%d calls, searched in %v; resident %d KiB before, at most %d KiB", n, searched.Round(time.Millisecond), before, most)
	if grown := most - before; grown > 64<<10 {
		t.Errorf("memory grew by %d KiB", grown)
	}
}

// A search that is left ends at once.
func TestSearchEnds(t *testing.T) {
	o := overview.New(config.Folders{State: t.TempDir(), Home: "/home/user"}, 0)
	writeCalls(t, o, 1_000)
	ctx, stop := context.WithCancel(t.Context())
	n := 0
	if err := searchCalls(o)(ctx, "file", func(console.Row) { n++; stop() }, func(int64, int64) {}); err == nil || n != 1 {
		t.Errorf("%d calls after the end: %v", n, err)
	}
}
