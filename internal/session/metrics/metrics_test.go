package metrics

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
)

// sink is a record that gives ids, or fails.
type sink struct {
	n   int
	err error
}

func (s *sink) Record(events ...*event.Event) error {
	for _, ev := range events {
		s.n++
		ev.Record = fmt.Sprint("r-", s.n)
	}
	return s.err
}

// printed returns what m prints, without the comments.
func printed(t *testing.T, m *Metrics) string {
	t.Helper()
	var b strings.Builder
	if n, err := m.WriteTo(&b); err != nil || int(n) != b.Len() {
		t.Fatal(n, err)
	}
	var kept []string
	for line := range strings.Lines(b.String()) {
		if !strings.HasPrefix(line, "# ") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

func clocked(step time.Duration) (*Metrics, *time.Time) {
	m := New("clawai v1.2.3")
	at := time.Unix(1000, 0)
	m.now = func() time.Time { at = at.Add(step); return at }
	m.Sessions = func() (int, int) { return 3, 2 }
	return m, &at
}

func TestCounts(t *testing.T) {
	t.Parallel()
	m, at := clocked(0)
	log := &sink{}
	r := m.CountRecords(log)
	record := func(ev *event.Event) {
		t.Helper()
		if err := r.Record(ev); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(server, method, decision, stage, id string) string {
		t.Helper()
		ev := &event.Event{Kind: event.Decision, Server: server, Method: method, Decision: decision, Stage: stage, ID: []byte(id)}
		record(ev)
		return ev.Record
	}
	first := ask("git", "tools/call", "allow", "policy", "1")
	ask("git", "tools/call", "allow", "policy", "2")
	ask("git", "tools/call", "deny", "ask", "3")
	ask("a \"b\"\\\n", "secret/method?token=x", "deny", "policy", "4")
	ask("git", "notifications/x", "allow", "policy", "")
	*at = at.Add(20 * time.Millisecond)
	record(&event.Event{Kind: event.Outcome, Server: "git", Ref: first, IsError: true})
	record(&event.Event{Kind: event.Outcome, Server: "git", Ref: first}) // it is not timed twice
	record(&event.Event{Kind: event.Answered, Answer: "once", Waited: 3 * time.Second})
	record(&event.Event{Kind: event.Dropped, Server: "git", Folded: 7})
	record(&event.Event{Kind: event.Dropped, Server: "git"})
	got := printed(t, m)
	for _, want := range []string{
		`clawai_build_info{version="v1.2.3"} 1`, "clawai_sessions 3", "clawai_questions_waiting 2",
		`clawai_decisions_total{server="git",method="tools/call",decision="allow",stage="policy"} 2`,
		`clawai_decisions_total{server="git",method="tools/call",decision="deny",stage="ask"} 1`,
		`clawai_decisions_total{server="a \"b\"\\\n",method="other",decision="deny",stage="policy"} 1`,
		`clawai_call_errors_total{server="git"} 1`, `clawai_dropped_messages_total{server="git"} 8`,
		`clawai_call_duration_seconds_bucket{server="git",le="0.01"} 0`, `clawai_call_duration_seconds_bucket{server="git",le="0.025"} 1`,
		`clawai_call_duration_seconds_bucket{server="git",le="+Inf"} 1`, `clawai_call_duration_seconds_sum{server="git"} 0.02`,
		`clawai_call_duration_seconds_count{server="git"} 1`,
		`clawai_answer_duration_seconds_bucket{answer="once",le="2"} 0`, `clawai_answer_duration_seconds_bucket{answer="once",le="5"} 1`,
		"clawai_record_duration_seconds_count 10", "clawai_record_errors_total 0",
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("no line %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, "token") || strings.Contains(got, "r-1") {
		t.Errorf("a label has what a client wrote: %s", got)
	}
}

// A call that the record does not take is denied. The failure is forgotten when a write succeeds, or
// after a minute without any.
func TestFailure(t *testing.T) {
	t.Parallel()
	m, at := clocked(0)
	log := &sink{err: errors.New("disk full")}
	r := m.CountRecords(log)
	decision := &event.Event{Kind: event.Decision, Server: "git", Method: "tools/call", Decision: "allow", ID: []byte("1")}
	if err := r.Record(decision); !errors.Is(err, log.err) {
		t.Fatal(err)
	}
	if got := printed(t, m); !strings.Contains(got, `{server="git",method="tools/call",decision="deny",stage="record"} 1`+"\n") || strings.Contains(got, `"allow"`) || !strings.Contains(got, "clawai_record_errors_total 1\n") {
		t.Error(got)
	}
	if err := m.Failure(); !errors.Is(err, log.err) {
		t.Error(err)
	}
	*at = at.Add(failureLasts + time.Second)
	if err := m.Failure(); err != nil {
		t.Error("still failed after a minute:", err)
	}
	_ = r.Record(decision)
	log.err = nil
	_ = r.Record(decision)
	if err := m.Failure(); err != nil {
		t.Error(err)
	}
}

// Names and calls without end take bounded memory.
func TestBounds(t *testing.T) {
	t.Parallel()
	m, _ := clocked(0)
	r := m.CountRecords(&sink{})
	for i := range 2 * maxOpen {
		_ = r.Record(&event.Event{Kind: event.Decision, Server: fmt.Sprint("s", i), Method: "tools/call", Decision: "allow", ID: []byte("1")})
	}
	if len(m.servers) != maxServers || len(m.open) != maxOpen || len(m.decisions) != maxServers+1 {
		t.Error(len(m.servers), len(m.open), len(m.decisions))
	}
	if got := printed(t, m); !strings.Contains(got, fmt.Sprintf("server=%q,method=\"tools/call\",decision=\"allow\",stage=\"\"} %d\n", other, 2*maxOpen-maxServers)) {
		t.Error("the others are not counted together")
	}
}
