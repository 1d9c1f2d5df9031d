package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/testing/slow"
)

func TestLogStatsCounts(t *testing.T) {
	at := time.Date(2026, 11, 20, 10, 30, 0, 0, time.UTC)
	dir := recorded(t)
	l, err := audit.Open(dir, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	record := func(e *event.Event) *event.Event {
		if e.Time.IsZero() {
			e.Time = at
		}
		if err := l.Record(e); err != nil {
			t.Fatal(err)
		}
		return e
	}
	for i := range 5 {
		c := call("read_file", `{}`, "allow")
		c.ID = []byte("1")
		record(c)
		record(&event.Event{Kind: event.Outcome, Ref: c.Record, Time: at.Add(time.Duration(i+1) * 100 * time.Millisecond), IsError: i == 0})
	}
	record(call("read_file", `{}`, "deny"))
	asked := call("write_file", `{}`, "allow")
	asked.Policy, asked.Server, asked.Time = "prompt", "web", at.Add(2*time.Hour)
	record(asked)
	watched := call("write_file", `{}`, "allow")
	watched.Policy, watched.Stage, watched.Time = "deny", "observe", at.Add(3*time.Hour)
	record(watched)
	list := call("tools/list", ``, "allow")
	list.Code = "ungoverned"
	record(list)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	type counts struct {
		Calls, Allowed, Denied, Asked, Failed, Watched int
		MedianMS                                       float64 `json:"median_ms"`
		LongestMS                                      float64 `json:"longest_ms"`
	}
	var doc struct {
		From, To time.Time
		Sessions int
		Total    counts
		Servers  []struct {
			Server string
			counts
		}
		Tools []struct {
			Server, Tool string
			counts
		}
		Hours []struct {
			Hour time.Time
			counts
		}
	}
	code, out, errs := clawai(t, "log", "stats", "--json")
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 || errs != "" {
		t.Fatalf("exit %d, %v: %s%s", code, err, out, errs)
	}
	if median := doc.Total.MedianMS; median < 300/1.07 || median > 300*1.07 {
		t.Errorf("the median of 100 to 500 ms is %v", median)
	}
	read := doc.Tools[0].counts
	read.MedianMS, doc.Total.MedianMS = 0, 0
	for _, tt := range []struct{ what, got, want string }{
		{"total", fmt.Sprint(doc.Total), fmt.Sprint(counts{8, 6, 2, 1, 1, 1, 0, 500})},
		{"the tool", fmt.Sprint(doc.Tools[0].Tool, read), fmt.Sprint("read_file", counts{6, 5, 1, 0, 1, 0, 0, 500})},
		{"tools", fmt.Sprintln(len(doc.Tools), doc.Tools[1].Server, doc.Tools[2].Server), "3 files web\n"},
		{"servers", fmt.Sprintln(len(doc.Servers), doc.Servers[0].Server, doc.Servers[0].Calls), "2 files 7\n"},
		{"time", fmt.Sprint(doc.Sessions, doc.From.Equal(at), doc.To.Equal(watched.Time)), "1 true true"},
		{"hours", fmt.Sprint(len(doc.Hours), doc.Hours[0].Calls, doc.Hours[1].Hour.UTC().Hour()), "3 6 12"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %s, want %s", tt.what, tt.got, tt.want)
		}
	}
	for filter, want := range map[string]int{"--server=web": 1, "--tool=read*": 6, "--decision=deny": 2, "--until=2026-11-20T11:00:00Z": 6, "--rule=policy.toml:8": 0} {
		if _, out, _ = clawai(t, "log", "stats", "--json", filter); !strings.Contains(out, fmt.Sprintf(`"calls": %d`, want)) {
			t.Errorf("%s: %s", filter, out)
		}
	}
}

// largeRecord is a record of 100,000 calls with their replies, of 200 tools.
func largeRecord(tb testing.TB, dir string, calls int, tool func(int) string) {
	l, err := audit.Open(dir, audit.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	at := time.Now().Add(-24 * time.Hour)
	for i := 0; i < calls; i += 100 {
		var all []*event.Event
		for j := i; j < i+100; j++ {
			c := call(tool(j), `{"path":"/home/user/projects/app/main.go","content":"package main"}`, []string{"allow", "allow", "allow", "deny"}[j%4])
			c.ID, c.Time = []byte("1"), at.Add(time.Duration(j)*time.Millisecond)
			all = append(all, c)
		}
		if err := l.Record(all...); err != nil {
			tb.Fatal(err)
		}
		var replies []*event.Event
		for _, c := range all {
			if c.Decision == "allow" {
				replies = append(replies, &event.Event{Kind: event.Outcome, Server: c.Server, Method: c.Method, Ref: c.Record, Time: c.Time.Add(90 * time.Millisecond)})
			}
		}
		if err := l.Record(replies...); err != nil {
			tb.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		tb.Fatal(err)
	}
}

func BenchmarkLogStats(b *testing.B) {
	state := b.TempDir()
	b.Setenv("CLAWAI_STATE_DIR", state)
	calls := 100_000
	if testing.Short() {
		calls = 10_000
	}
	largeRecord(b, state+"/audit", calls, func(i int) string { return fmt.Sprintf("tool_%d", i%200) })
	for b.Loop() {
		if code := runClawai([]string{"clawai", "log", "stats"}, io.Discard, io.Discard); code != 0 {
			b.Fatal(code)
		}
	}
}

// An agent that makes up a name for every call makes stats hold no more of them than it
// is bound to.
func TestLogStatsIsBounded(t *testing.T) {
	slow.Test(t)
	state := t.TempDir()
	t.Setenv("CLAWAI_STATE_DIR", state)
	largeRecord(t, state+"/audit", 12_000, func(i int) string { return fmt.Sprintf("made_up_%d", i) })
	code, out, errs := clawai(t, "log", "stats", "--json")
	var doc struct {
		Total struct{ Calls int }
		Tools []struct{ Tool string }
		More  bool `json:"more_tools"`
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 || errs != "" {
		t.Fatal(code, errs, err)
	}
	if doc.Total.Calls != 12_000 || len(doc.Tools) != 4096 || !doc.More {
		t.Errorf("%d calls, %d tools, more: %v", doc.Total.Calls, len(doc.Tools), doc.More)
	}
}
