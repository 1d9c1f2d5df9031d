package learn_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/check/learn"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/policy"
)

// person answers every question in the same way.
type person struct {
	reply   gate.Reply
	channel string
}

func (p person) Ask(_ context.Context, q gate.Question) (gate.Answer, error) {
	return gate.Answer{Reply: p.reply, Digest: q.Digest, Channel: p.channel}, nil
}

// crossing is the other side; done is called when a call is over.
type crossing struct{ done func() }

func (c crossing) Forward(*gate.Exchange) error        { c.done(); return nil }
func (c crossing) Refuse(*gate.Exchange, gate.Verdict) { c.done() }
func (crossing) Waiting(*gate.Exchange, time.Duration) {}

// TestAnswersAtTheGateAreLearned: what the gate records of a person's answers is
// what is learned from, and answers in the client's form are not.
func TestAnswersAtTheGateAreLearned(t *testing.T) {
	for _, c := range []struct {
		person person
		want   policy.Action
	}{
		{person{gate.AllowOnce, "terminal"}, policy.Allow},
		{person{gate.AllowOnce, "elicitation"}, policy.Prompt},
		{person{gate.DenyOnce, "terminal"}, policy.Prompt},
	} {
		dir := filepath.Join(t.TempDir(), "audit")
		log, err := audit.Open(dir, audit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		src := []byte("[[rule]]\naction = \"prompt\"\ntool = \"*\"\n")
		p, err := policy.Parse("mine.toml", src, policy.Options{Home: home})
		if err != nil {
			t.Fatal(err)
		}
		s, err := gate.New(gate.Options{
			Policy: p, Recorder: log, Approver: c.person,
			Concluder: gate.None{}, Inspector: gate.None{}, Labels: gate.None{}, Releases: gate.None{},
		})
		if err != nil {
			t.Fatal(err)
		}
		var over sync.WaitGroup
		for i := range 4 {
			over.Add(1)
			args := fmt.Appendf(nil, `{"path":"/srv/app/site/%d.md"}`, i)
			call := policy.Call{Server: "fs", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"write_file"}, Args: args}
			s.Do(t.Context(), &gate.Exchange{
				Raw: args, Calls: []policy.Call{call}, Out: crossing{over.Done},
				Event: event.Event{Server: "fs", Method: "tools/call", Subject: "tool", Names: call.Names, Args: args},
			})
		}
		over.Wait()
		s.Close()
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		o := options()
		o.Now, o.File, o.Policy = now, "mine.toml", src
		l, err := learn.New(o)
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range audit.Read(dir, audit.Filter{Kinds: learn.Kinds()}) {
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Add(&e); err != nil {
				t.Fatal(err)
			}
		}
		text, err := l.Compose(l.Propose())
		if err != nil {
			t.Fatal(err)
		}
		next, err := policy.Parse("mine.toml", text, policy.Options{Home: home})
		if err != nil {
			t.Fatal(err)
		}
		if got := decide(next, "write_file", inPath("/srv/app/site/new.md")); got != c.want {
			t.Errorf("%+v: %s, want %s\n%s\n%v", c.person, got, c.want, text, l.Skipped)
		}
	}
}
