package gate

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

func TestOneRecordBeforeTheFirstForwardInOrder(t *testing.T) {
	j := newJournal()
	s := session(t, j, byName)
	s.Do(t.Context(), j.call("allow"), j.call("deny"), j.message("ping"), j.call("other"))
	want := []string{"record 4", "forward allow", "refuse deny", "forward ping", "refuse other"}
	if !slices.Equal(j.lines, want) {
		t.Errorf("got %q\nwant %q", j.lines, want)
	}
}

func TestAFailedRecordRefusesTheWholeBatch(t *testing.T) {
	j := newJournal()
	j.record = func() error { return errors.New("disk full") }
	s := session(t, j, byName)
	xs := []*Exchange{j.call("allow"), j.call("prompt"), j.message("ping"), j.call("deny")}
	s.Do(t.Context(), xs...)
	for _, x := range xs {
		j.expect(t, x, CodeRecordFailed)
		if v := j.verdicts[x]; v.Stage != StageRecord || v.Record != "" {
			t.Errorf("%s: stage %q, record %q", x.Raw, v.Stage, v.Record)
		}
	}
	if slices.Contains(j.lines, "ask") {
		t.Error("a person was asked about what could not be recorded")
	}
}

func TestWhatIsRecorded(t *testing.T) {
	two := func(j *journal) *Exchange {
		x := j.call("allow")
		x.Calls = append(x.Calls, tool("deny"))
		return x
	}
	listed := func(j *journal) *Exchange {
		x := j.message("list")
		x.Event.Kind = event.Listed
		return x
	}
	on := func(work, name string) func(j *journal) *Exchange {
		return func(j *journal) *Exchange {
			x := j.message("m")
			if name != "" {
				x = j.call(name)
			}
			x.Work = []policy.Call{tool(work)}
			return x
		}
	}
	named := func(name string) func(j *journal) *Exchange {
		return func(j *journal) *Exchange { return j.call(name) }
	}
	plain := func(j *journal) *Exchange { return j.message("m") }
	tests := []struct {
		name    string
		make    func(j *journal) *Exchange
		observe bool
		want    string // kind policy decision stage code line
	}{
		{"allowed", named("allow"), false, "decision allow allow policy allowed_by_rule 1"},
		{"denied", named("deny"), false, "decision deny deny policy denied_by_rule 3"},
		{"no rule", named("?"), false, "decision deny deny policy no_rule 0"},
		{"malformed", named("malformed"), false, "decision deny deny policy malformed 0"},
		{"ungoverned method", named("free"), false, "decision allow allow policy ungoverned 0"},
		{"fallen policy", named("panic"), false, "decision  deny policy panic 0"},
		{"strictest of two", two, false, "decision deny deny policy denied_by_rule 3"},
		{"work goes on", on("allow", ""), false, "decision allow allow policy ungoverned 0"},
		{"work that was asked about goes on", on("prompt", "allow"), false, "decision allow allow policy allowed_by_rule 1"},
		{"work is denied by now", on("deny", "allow"), false, "decision deny deny policy denied_by_rule 3"},
		{"request", plain, false, "passed     0"},
		{"reply", plain, true, "outcome     0"},
		{"list", listed, true, "listed     0"},
		{"reply with input requests", two, true, "decision deny deny policy denied_by_rule 3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			j := newJournal()
			s := session(t, j, byName)
			x := tt.make(j)
			if tt.observe {
				s.Observe(t.Context(), x)
				_ = s.Flush()
			} else {
				s.Do(t.Context(), x)
			}
			if len(j.events) != 1 {
				t.Fatalf("%d events", len(j.events))
			}
			if got := line(j.events[0]); got != tt.want {
				t.Errorf("recorded %q, want %q", got, tt.want)
			}
			if ev := j.events[0]; ev.Server != "srv" || ev.Bytes != len(x.Raw) {
				t.Errorf("server %q, %d bytes", ev.Server, ev.Bytes)
			}
			if v := j.verdicts[x]; v.Action != policy.Allow && v.Record != "r1" {
				t.Errorf("the refusal quotes record %q", v.Record)
			}
		})
	}
}

func TestTheAgentIsToldWhyAndNothingOfTheFile(t *testing.T) {
	tests := []struct{ name, want string }{
		{"deny", "a rule denies it"},
		{"?", "no rule allows it"},
		{"malformed", "invisible character"},
		{"panic", "tell the owner"},
	}
	for _, tt := range tests {
		j := newJournal()
		x := j.call(tt.name)
		session(t, j, byName).Do(t.Context(), x)
		got := j.verdicts[x].Reason
		if !strings.Contains(got, tt.want) || strings.Contains(got, "secret") || strings.Contains(got, "fell") {
			t.Errorf("%s: told %q, want %q and no path", tt.name, got, tt.want)
		}
	}
}

func TestTheOwnerIsToldWhichReadingDecided(t *testing.T) {
	j := newJournal()
	s := session(t, j, rules(func([]policy.Call) policy.Decision {
		return policy.Decision{Rule: denyRule, Reading: "/etc/\x1bshadow"}
	}))
	s.Do(t.Context(), j.call("x"))
	if got := j.events[0].Reason; got != `read as "/etc/\x1bshadow"` {
		t.Errorf("recorded %s", got)
	}
}

func TestALostForwardIsRecorded(t *testing.T) {
	for name, forward := range map[string]func() error{
		"error": func() error { return errors.New("broken pipe") },
		"panic": func() error { panic("broken pipe") },
	} {
		j := newJournal()
		j.forward = forward
		s := session(t, j, byName)
		x := j.call("allow")
		x.Event.Method, x.Event.ID = "tools/call", []byte("7")
		s.Do(t.Context(), x)
		j.expect(t, x, "forward")
		ev := j.events[len(j.events)-1]
		if len(j.events) != 2 || ev.Kind != event.Dropped || ev.Ref != "r1" || ev.Code != CodeForwardFailed ||
			!strings.Contains(ev.Reason, "broken pipe") || ev.Method != "tools/call" || string(ev.ID) != "7" {
			t.Errorf("%s: recorded %+v", name, ev)
		}
	}
}

// brittle panics when it is told of a refusal.
type brittle struct{ *journal }

func (b brittle) Refuse(x *Exchange, v Verdict) {
	b.journal.Refuse(x, v)
	panic("outlet fell")
}

func TestAFallenOutletDoesNotEndTheSession(t *testing.T) {
	j := newJournal()
	s := session(t, j, byName)
	x, y := j.call("deny"), j.call("allow")
	x.Out = brittle{j}
	s.Do(t.Context(), x, y)
	j.expect(t, x, CodeDeniedByRule)
	j.expect(t, y, "forward")
}

func TestNote(t *testing.T) {
	j := newJournal()
	s := session(t, j, byName)
	if err := s.NoteEvents(&event.Event{Kind: event.Start}, &event.Event{Kind: event.Policy, Server: "other"}); err != nil {
		t.Fatal(err)
	}
	if j.lines[0] != "record 2" || j.events[0].Server != "" || j.events[1].Server != "other" {
		t.Errorf("recorded %v, %+v", j.lines, j.events)
	}
	if err := s.NoteEvents(); err != nil || len(j.lines) != 1 {
		t.Errorf("nothing noted: %v, %v", err, j.lines)
	}
}

func TestASetPolicyOfNilDenies(t *testing.T) {
	j := newJournal()
	s := session(t, j, byName)
	s.SetPolicy(nil)
	x := j.call("allow")
	s.Do(t.Context(), x)
	j.expect(t, x, CodeNoRule)
	if p := *s.policy.Load(); p.Revision() != "" || p.Timed() {
		t.Errorf("no rules, of revision %q", p.Revision())
	}
}

func TestAClosedSessionRefuses(t *testing.T) {
	j := newJournal()
	s := session(t, j, byName)
	s.Close()
	x, y := j.call("allow"), j.message("reply")
	s.Do(t.Context(), x)
	s.Observe(t.Context(), y)
	j.expect(t, x, CodeClosed)
	j.expect(t, y, CodeClosed)
}
