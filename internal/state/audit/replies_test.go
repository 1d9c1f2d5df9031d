package audit

import (
	"slices"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
)

// With Replies, Last counts calls: the replies to the last so many come along, and no
// others.
func TestLastCountsNoReplies(t *testing.T) {
	dir := t.TempDir()
	l, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-time.Hour)
	for i := range 500 {
		tool := "often"
		if i%100 == 7 {
			tool = "seldom"
		}
		call := &event.Event{Kind: event.Decision, Time: at.Add(time.Duration(2*i) * time.Millisecond), Subject: "tool", Names: []string{tool}, Decision: "allow"}
		if err := l.Record(call); err != nil {
			t.Fatal(err)
		}
		if err := l.Record(&event.Event{Kind: event.Outcome, Time: call.Time.Add(time.Millisecond), Ref: call.Record}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	seldom := func(name string) bool { return name == "seldom" }
	for _, tt := range []struct {
		f              Filter
		calls, replies int
	}{
		{Filter{Replies: true, Last: 3}, 3, 3},
		{Filter{Replies: true, Last: 300}, 300, 300},
		{Filter{Replies: true, Last: 3, Tool: seldom}, 3, 3},
		{Filter{Replies: true, Last: 99, Tool: seldom}, 5, 5},
		{Filter{Replies: true, Tool: seldom}, 5, 500},
		{Filter{Last: 3, Tool: seldom}, 3, 0},
		{Filter{Last: 4}, 2, 2},
		{Filter{Replies: true, Last: 3, Until: at.Add(100*time.Millisecond + 1)}, 3, 2},
		{Filter{Until: at}, 0, 0},
	} {
		var calls, refs []string
		for e, err := range Read(dir, tt.f) {
			switch {
			case err != nil:
				t.Fatal(err)
			case e.Kind == event.Decision:
				calls = append(calls, e.Record)
			default:
				refs = append(refs, e.Ref)
			}
		}
		if len(calls) != tt.calls || len(refs) != tt.replies {
			t.Errorf("%+v: %d calls, %d replies; want %d and %d", tt.f, len(calls), len(refs), tt.calls, tt.replies)
		}
		if tt.f.Replies && tt.f.Last > 0 && slices.ContainsFunc(refs, func(ref string) bool { return !slices.Contains(calls, ref) }) {
			t.Errorf("%+v: a reply to a call that is not there", tt.f)
		}
	}
}
