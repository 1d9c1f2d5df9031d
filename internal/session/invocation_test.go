package session

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/state/flow"
	"github.com/clawai/clawai/policy"
)

const invoked = `
[[rule]]
action = "allow"
tool = "read"
limit = "2/hour"

[[rule]]
action = "prompt"
tool = "write"

[[rule]]
action = "deny"
tool = "send"
after = "untrusted"

[[rule]]
action = "allow"
tool = "*"

[server.web]
public_source = true
`

// The sessions of an invocation have limits, what a person allowed for the session, and labels in
// common; another has nothing of it, also when a message gives both one name, and with its end it
// is forgotten.
func TestInvocation(t *testing.T) {
	asked := 0
	s, kept, f := sessions(t, invoked, func(o *Spec) {
		o.Before = func(q gate.Question) (gate.Answer, bool) {
			asked++
			return gate.Answer{Reply: gate.AllowSession, Digest: q.Digest, Channel: "test"}, true
		}
	})
	begin := func(name string) (*Invocation, *Session, *Session) {
		t.Helper()
		i := s.NewInvocation(name)
		web, err := i.Open(Peer{Name: "web"})
		if err != nil {
			t.Fatal(err)
		}
		mail, err := i.Open(Peer{Name: "web"})
		if err != nil {
			t.Fatal(err)
		}
		return i, web, mail
	}
	end := func(i *Invocation, all ...*Session) {
		t.Helper()
		for _, one := range all {
			closed(t, one)
		}
		if err := i.End(); err != nil {
			t.Error(err)
		}
	}
	wants := func(one *Session, tool, want string) {
		t.Helper()
		if got := call(one, tool); got != want {
			t.Errorf("%s: %s, want %s", tool, got, want)
		}
	}
	one, a, b := begin("team/one")
	two, c, d := begin("team/two")
	wants(a, "read", "forward")
	wants(b, "read", "forward")
	wants(a, "read", "rate limit")
	wants(c, "read", "forward")

	wants(a, "write", "forward")
	if wants(b, "write", "forward"); asked != 1 && flow.OwnKeys()[0][:8] == "process:" {
		t.Errorf("a person was asked %d times", asked)
	}
	before := asked
	if wants(c, "write", "forward"); asked != before+1 {
		t.Error("what was allowed in one invocation was not asked in the other")
	}

	for _, session := range []*Session{a, c} { // which both say that they are the same
		got := make(out, 1)
		session.Do(context.Background(), &gate.Exchange{
			Raw:   []byte(`{}`),
			Calls: []policy.Call{{Server: "web", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"other"}, Session: "same"}},
			Event: event.Event{Kind: event.Decision, Server: "web", Method: "tools/call", Subject: "tool", Names: []string{"other"}}, Out: got,
		})
		if said := <-got; said != "forward" {
			t.Error(said)
		}
	}
	if err := a.Labels().Add([]gate.Label{{Kind: "untrusted", Source: "web other"}}, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	wants(b, "send", "policy denied_by_rule")
	wants(d, "send", "forward")

	for _, ev := range kept.of(event.Decision) {
		if ev.Invocation == "" {
			t.Errorf("%v is nobody's", ev.Names)
		}
	}
	left := func() int {
		all, err := os.ReadDir(filepath.Join(f.State, "flow"))
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	if left() == 0 {
		t.Error("nothing was kept")
	}
	end(one, a, b)
	three, e, g := begin("team/one")
	wants(e, "send", "forward")
	wants(g, "read", "forward")
	wants(d, "send", "forward")
	end(two, c, d)
	end(three, e, g)
	if n := left(); n != 0 {
		t.Errorf("%d files are left", n)
	}
}
