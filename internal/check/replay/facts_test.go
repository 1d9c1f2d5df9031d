package replay_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/replay"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/policy"
)

// everyFact has a value for each member of policy.Facts. A new fact gets one here.
var everyFact = policy.Facts{
	At: time.Date(2026, 1, 5, 10, 0, 0, 0, time.UTC), Cwd: "/srv", OS: policy.Windows, Elsewhere: true,
	Who: names("ana@team.example", "https://id.example#1"), Roles: names("dev", "oncall"), Groups: names(), Env: "prod", Agent: "claude-code",
	Assurances: policy.Additive | policy.ClosedWorld, Seen: policy.Known | policy.Untrusted,
}

func names(list ...string) policy.NameSet {
	n, err := policy.NewNameSet(list)
	if err != nil {
		panic(err)
	}
	return n
}

// A fact of a call comes back from the record, and from a fixture, as the gate had it.
func TestFactsAreKept(t *testing.T) {
	for i := range reflect.TypeFor[policy.Facts]().NumField() {
		if reflect.ValueOf(everyFact).Field(i).IsZero() {
			t.Errorf("everyFact has no %s", reflect.TypeFor[policy.Facts]().Field(i).Name)
		}
	}
	call := policy.Call{Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"read"}, Args: []byte(`{"path":"a"}`), Facts: everyFact}
	composed, err := check.Compose(&call, policy.Allow)
	if err != nil {
		t.Fatal(err)
	}
	fx, err := check.ParseFixture(composed.Text)
	if err != nil {
		t.Fatalf("%v\n%s", err, composed.Text)
	}
	if calls, err := fx.ReadCalls(""); err != nil || len(calls) != 1 || calls[0].Facts != everyFact {
		t.Errorf("the fixture gives %+v (%v)\n%s", calls, err, composed.Text)
	}

	dir := t.TempDir()
	log, err := audit.Open(dir, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Record(&event.Event{
		Kind: event.Decision, Time: everyFact.At, Method: call.Method, Subject: "tool", Names: call.Names, Args: call.Args, Facts: everyFact, Policy: "allow", Decision: "allow",
	}); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	kept := everyFact
	kept.Seen = 0 // the records before it say it
	read := 0
	for e, err := range audit.Read(dir, audit.Filter{Kinds: []event.Kind{event.Decision}}) {
		if err != nil {
			t.Fatal(err)
		}
		read++
		if c, why := replay.RebuildCall(&e); c.Facts != kept {
			t.Errorf("the record gives %+v (%v)\n%s", c.Facts, why, e.Raw)
		}
	}
	if read != 1 {
		t.Errorf("read %d records", read)
	}
}

// A record has groups only where a rule asked for them then, and is not judged by a rule that asks now.
func TestGroupsThatWereNotKept(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"group", "not.group"} {
		j, err := replay.NewJudge("p.toml", fmt.Appendf(nil, "[[rule]]\naction = 'deny'\ntool = 'read'\n%s = 'a'\n[[rule]]\naction = 'allow'\ntool = '*'\n", key), policy.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			facts policy.Facts
			known bool
		}{{policy.Facts{Roles: names()}, false}, {policy.Facts{Roles: names(), Groups: names("b")}, true}, {policy.Facts{}, true}} {
			e := event.Entry{Event: event.Event{Kind: event.Decision, Method: "tools/call", Subject: "tool", Names: []string{"read"}, Policy: "allow", Facts: c.facts}}
			call, why := replay.RebuildCall(&e)
			if why != "" {
				t.Fatal(why)
			}
			if _, why := j.JudgeCall(&call); (why == "") != c.known || !c.known && why != replay.Unrecorded {
				t.Errorf("%s, %+v: %q", key, c.facts, why)
			}
		}
	}
}
