package overview

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
)

// The very last calls are shown before the others are read, and each call once after.
func TestEarlyCalls(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	log, err := audit.Open(dir, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	var last string
	const calls = 3 * maxEarly
	for range calls {
		e := event.Event{Kind: event.Decision, Direction: "client", Method: "tools/call", Subject: "tool", ID: []byte("1"), Names: []string{"read_file"}, Policy: "allow", Decision: "allow", Stage: "policy"}
		if err := log.Record(&e); err != nil {
			t.Fatal(err)
		}
		last = e.Record
	}
	o := &Overview{Dir: dir}
	all := func(*Call) bool { return true }
	var l Latest
	l.readEarly(o)
	if list, more := l.List(1000, all); l.IsComplete() || len(list) != maxEarly || more != 0 || list[0].ID != last {
		t.Errorf("%d calls and %d more at once", len(list), more)
	}
	ctx, cancel := context.WithCancel(t.Context())
	l.Follow(ctx, o, func() {
		if list, more := l.List(1000, all); !l.IsComplete() || len(list) != calls || more != 0 || list[0].ID != last {
			t.Errorf("%d calls and %d more in the end", len(list), more)
		}
		cancel()
	})
}
