package gate

import (
	"context"
	"slices"
	"testing"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

func roleSet(t *testing.T, names ...string) policy.NameSet {
	t.Helper()
	n, err := policy.NewNameSet(names)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

const rolesRules = `
[[rule]]
action = "prompt"
tool = "ask"
role = "oncall"
[[rule]]
action = "allow"
tool = "run"
role = "oncall"
`

// A call is judged, and recorded, with who makes it, and with what the transport knows beside.
func TestCallsAreJudgedByTheirCaller(t *testing.T) {
	t.Parallel()
	p, err := policy.Parse("p.toml", []byte(rolesRules), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, own := range []policy.Facts{{}, {Cwd: "/srv"}} {
		j, now := newJournal(), roleSet(t, "oncall")
		s := sessionOf(t, j, p, Options{Facts: own, Identify: func(f *policy.Facts) { f.Roles = now }})
		call := func(want string) {
			t.Helper()
			x := j.call("run")
			x.Calls[0].Agent, x.Event.Facts = "codex", policy.Facts{Agent: "codex"}
			s.Do(t.Context(), x)
			j.expect(t, x, want)
			last := j.events[len(j.events)-1]
			if last.Roles != now || last.Cwd != own.Cwd || (own == policy.Facts{}) != (last.Agent == "codex") {
				t.Errorf("recorded %+v", last.Facts)
			}
		}
		call("forward")
		now = roleSet(t)
		call(CodeNoRule)
		now = ""
		call(CodeNoRule)
	}
}

// Who calls may change while a person is asked: the call is judged again by the roles of then, and so
// it is recorded.
func TestARoleThatEndsWhileAPersonIsAsked(t *testing.T) {
	t.Parallel()
	p, err := policy.Parse("p.toml", []byte(rolesRules), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, ends := range []bool{false, true} {
		j, now := newJournal(), roleSet(t, "oncall")
		j.person = func(ctx context.Context, q Question) (Answer, error) {
			if ends {
				now = roleSet(t, "dev")
			}
			return says(AllowOnce)(ctx, q)
		}
		s := sessionOf(t, j, p, Options{Identify: func(f *policy.Facts) { f.Roles = now }})
		x := j.call("ask")
		s.Do(t.Context(), x)
		s.askers.Wait()
		want := map[bool]string{false: "forward", true: CodeNoRule}[ends]
		j.expect(t, x, want)
		i := slices.IndexFunc(j.events, func(e event.Event) bool { return e.Kind == event.Decision })
		if i < 0 || j.events[i].Roles != now {
			t.Errorf("recorded %+v", j.events)
		}
	}
}
