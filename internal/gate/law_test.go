package gate

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// line is the verdict part of an event on one line.
func line(ev event.Event) string {
	return fmt.Sprintf("%s %s %s %s %s %d", ev.Kind, ev.Policy, ev.Decision, ev.Stage, ev.Code, ev.RuleLine)
}

var (
	anyAction = rapid.Custom(func(t *rapid.T) policy.Action { return policy.Action(rapid.Byte().Draw(t, "action")) })
	oneAction = rapid.SampledFrom([]policy.Action{policy.Deny, policy.Prompt, policy.Allow})
	anyReply  = rapid.Custom(func(t *rapid.T) Reply { return Reply(rapid.IntRange(0, 5).Draw(t, "reply")) })
	anyRule   = map[policy.Action]*policy.Rule{policy.Deny: denyRule, policy.Prompt: promptRule, policy.Allow: allowRule}
)

// lifts says whether a reply allows.
func lifts(r Reply) bool { return r >= AllowOnce && r <= AllowAlways || r == HandOver }

// Law 1: Deny is the zero value; Deny < Prompt < Allow; verdicts combine by
// minimum; what is none of the three is a deny.
func TestLaw1(t *testing.T) {
	if (Verdict{}).Action != policy.Deny || (Answer{}).Reply != DenyOnce || lifts(Reply(0)) {
		t.Error("a zero value does not deny")
	}
	if policy.Deny >= policy.Prompt || policy.Prompt >= policy.Allow {
		t.Error("the order is not deny, prompt, allow")
	}
	rapid.Check(t, func(rt *rapid.T) {
		a, ruled := anyAction.Draw(rt, "a"), rapid.Bool().Draw(rt, "ruled")
		d := policy.Decision{Action: a}
		if ruled {
			d.Rule = denyRule
		}
		j := newJournal()
		s := session(t, j, rules(func([]policy.Call) policy.Decision { return d }))
		x := j.call("x")
		s.Do(t.Context(), x)
		s.Close()
		if got := j.became(x); (got == "forward") != (a == policy.Allow) {
			rt.Fatalf("%v became %s", a, got)
		}
	})
}

// Law 2: after the policy everything can only tighten; a person lifts prompt to
// allow; nobody lifts deny, nor is anybody asked about one.
func TestLaw2(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		acts := rapid.SliceOfN(oneAction, 1, 6).Draw(rt, "actions")
		reply := anyReply.Draw(rt, "reply")
		j := newJournal()
		j.person = says(reply)
		s := session(t, j, byName)
		var xs []*Exchange
		synced := make(chan struct{})
		for range 2 { // the second time with whatever the first left behind
			for _, a := range acts {
				xs = append(xs, j.call(a.String()))
			}
		}
		go func() { s.Do(t.Context(), xs...); close(synced) }()
		<-synced
		s.askers.Wait()
		s.Close()
		for i, x := range xs {
			a := acts[i%len(acts)]
			want := a == policy.Allow || a == policy.Prompt && lifts(reply)
			if got := j.became(x); (got == "forward") != want {
				rt.Fatalf("%v with reply %v became %s", a, reply, got)
			}
		}
		if !slices.Contains(acts, policy.Prompt) && slices.Contains(j.lines, "ask") {
			rt.Fatal("a person was asked where no rule prompts")
		}
	})
}

// Law 3: the bytes judged are the bytes recorded are the bytes sent, and what a person
// is shown; an approval names their digest and is used once. Where a rule edits strings,
// the record has both digests, the result is admitted again by the frame reader, and
// everything outside the named strings is byte-identical; nothing here edits yet, and
// what would have to be edited is withheld (TestWhatIsFoundWithholdsAReply).
func TestLaw3(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		raw := rapid.SliceOfN(rapid.Byte(), 1, 50).Draw(rt, "raw")
		names := rapid.SliceOfN(rapid.String(), 1, 3).Draw(rt, "names")
		wrong := rapid.Bool().Draw(rt, "wrong")
		change := rapid.Bool().Draw(rt, "change")
		j := newJournal()
		x := &Exchange{Raw: slices.Clone(raw), Out: j, Calls: []policy.Call{{Subject: policy.ToolSubject, Names: names, Args: raw}}}
		digest := sha256.Sum256(raw)
		asked := 0
		j.person = func(_ context.Context, q Question) (Answer, error) {
			asked++
			if q.Digest != digest || &q.Calls[0] != &x.Calls[0] {
				rt.Error("shown something else than was judged")
			}
			if change {
				x.Raw[0]++
			}
			if wrong {
				q.Digest[31]++
			}
			return Answer{Reply: AllowOnce, Digest: q.Digest}, nil
		}
		s := session(t, j, always(promptRule))
		s.Do(t.Context(), x)
		s.askers.Wait()
		want := "forward"
		if change {
			want = CodeChanged
		}
		if wrong {
			want = CodeWrongAnswer
		}
		if got := j.became(x); got != want {
			rt.Fatalf("became %s, want %s", got, want)
		}
		for _, ev := range j.events {
			if ev.Digest != digest {
				rt.Fatalf("recorded digest %x", ev.Digest)
			}
		}
		if want == "forward" { // the same bytes again are a new question
			again := *x
			s.Do(t.Context(), &again)
			s.askers.Wait()
			if asked != 2 {
				rt.Fatalf("asked %d times for two calls", asked)
			}
		}
		s.Close()
	})
}

// Law 4: after waiting for a person the call is judged again, and rules that
// allow it need no answer.
func TestLaw4(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		then := oneAction.Draw(rt, "then")
		reply := anyReply.Draw(rt, "reply")
		j := newJournal()
		s := session(t, j, always(promptRule))
		j.person = func(ctx context.Context, q Question) (Answer, error) {
			s.SetPolicy(always(anyRule[then]))
			return says(reply)(ctx, q)
		}
		x := j.call("x")
		s.Do(t.Context(), x)
		s.askers.Wait()
		s.Close()
		want := lifts(reply) && then != policy.Deny
		if got := j.became(x); (got == "forward") != want && (then != policy.Allow || got != "forward") {
			rt.Fatalf("reply %v, then %v: became %s", reply, then, got)
		}
	})
}

// fault is one way in which a call that would be allowed goes wrong.
type fault struct {
	name, code string
	inject     func(j *journal, s *Session, cancel context.CancelFunc)
}

var faults = []fault{
	{"timeout", CodeNotAnswered, func(j *journal, _ *Session, _ context.CancelFunc) { j.person = silent }},
	{"deaf approver", CodeNotAnswered, func(j *journal, s *Session, _ context.CancelFunc) {
		j.person = func(ctx context.Context, q Question) (Answer, error) {
			<-ctx.Done() // and allows, too late
			return Answer{Reply: AllowOnce, Digest: q.Digest}, nil
		}
	}},
	{"end of input", CodeNobodyToAsk, func(j *journal, _ *Session, _ context.CancelFunc) {
		j.person = func(_ context.Context, q Question) (Answer, error) {
			return Answer{Reply: AllowOnce, Digest: q.Digest}, io.EOF
		}
	}},
	{"no terminal", CodeNobodyToAsk, func(j *journal, _ *Session, _ context.CancelFunc) { j.person = nil }},
	{"zero answer", CodeWrongAnswer, func(j *journal, _ *Session, _ context.CancelFunc) {
		j.person = func(context.Context, Question) (Answer, error) { return Answer{}, nil }
	}},
	{"unknown reply", CodeWrongAnswer, func(j *journal, _ *Session, _ context.CancelFunc) { j.person = says(HandOver + 1) }},
	{"fallen approver", CodePanic, func(j *journal, _ *Session, _ context.CancelFunc) {
		j.person = func(context.Context, Question) (Answer, error) { panic("approver fell") }
	}},
	{"approver with a fallen error", CodePanic, func(j *journal, _ *Session, _ context.CancelFunc) {
		j.person = func(context.Context, Question) (Answer, error) { return Answer{}, (*brokenError)(nil) }
	}},
	{"fallen policy", CodePanic, func(_ *journal, s *Session, _ context.CancelFunc) {
		s.SetPolicy(rules(func([]policy.Call) policy.Decision { panic("rules fell") }))
	}},
	{"policy falls after the answer", CodePanic, func(j *journal, s *Session, _ context.CancelFunc) {
		j.person = func(ctx context.Context, q Question) (Answer, error) {
			s.SetPolicy(rules(func([]policy.Call) policy.Decision { panic("rules fell") }))
			return says(AllowOnce)(ctx, q)
		}
	}},
	{"failed record", CodeRecordFailed, func(j *journal, _ *Session, _ context.CancelFunc) {
		j.record = func() error { return errors.New("disk full") }
	}},
	{"fallen record", CodeRecordFailed, func(j *journal, _ *Session, _ context.CancelFunc) {
		j.record = func() error { panic("log fell") }
	}},
	{"connection ends", CodeClosed, func(j *journal, _ *Session, cancel context.CancelFunc) {
		j.person = func(ctx context.Context, q Question) (Answer, error) { cancel(); return says(AllowOnce)(ctx, q) }
	}},
}

type brokenError struct{ text string }

func (e *brokenError) Error() string { return e.text }

// Law 5: timeout, end of input, no terminal, doubt, panic, failed record: deny,
// exactly once, and the session goes on.
func TestLaw5(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := newJournal()
				j.person = says(AllowOnce)
				s := session(t, j, byName)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				f.inject(j, s, cancel)
				x := j.call("prompt")
				s.Do(ctx, x)
				s.askers.Wait()
				j.expect(t, x, f.code)

				j.record, j.person = nil, says(AllowOnce)
				s.SetPolicy(byName)
				for _, name := range []string{"allow", "prompt"} {
					y := j.call(name)
					s.Do(t.Context(), y)
					s.askers.Wait()
					j.expect(t, y, "forward")
				}
			})
		})
	}
}

// Law 6: every port is declared and required; whoever has nobody behind one says so.
func TestLaw6(t *testing.T) {
	fill := []func(*Options){
		func(o *Options) { o.Policy = byName },
		func(o *Options) { o.Recorder = sink{} },
		func(o *Options) { o.Approver = sink{} },
		func(o *Options) { o.Concluder = None{} },
		func(o *Options) { o.Inspector = None{} },
		func(o *Options) { o.Labels = None{} },
		func(o *Options) { o.Releases = None{} },
	}
	all := 1<<len(fill) - 1
	for mask := range all + 1 {
		var o Options
		for i := range fill {
			if mask>>i&1 != 0 {
				fill[i](&o)
			}
		}
		if _, err := New(o); (err == nil) != (mask == all) {
			t.Errorf("ports %08b: %v", mask, err)
		}
	}
}

// Law 7, as far as one room can show it: the same call gets the same verdict
// and the same record alone, in a batch, and inside a reply. That every
// transport makes the same call of the same message is shown where they are.
func TestLaw7(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		names := rapid.SliceOfN(rapid.SampledFrom([]string{"allow", "deny", "malformed", "panic", "free", "?"}), 1, 8).Draw(rt, "names")
		j := newJournal()
		s := session(t, j, byName)
		var batch []*Exchange
		for _, name := range names {
			batch = append(batch, j.call(name))
		}
		s.Do(t.Context(), batch...)
		for i, name := range names {
			alone, reply := j.call(name), j.call(name)
			s.Do(t.Context(), alone)
			s.Observe(t.Context(), reply)
			for _, x := range []*Exchange{alone, reply} {
				if line(x.Event) != line(batch[i].Event) || j.became(x) != j.became(batch[i]) {
					rt.Fatalf("%s: %s and %s", name, line(x.Event), line(batch[i].Event))
				}
			}
		}
		s.Close()
	})
}
