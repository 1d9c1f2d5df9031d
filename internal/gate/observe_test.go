package gate

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// observing is a session that enforces nothing.
func observing(t *testing.T, j *journal, p Policy) *Session {
	t.Helper()
	s, err := New(alone(Options{Policy: p, Recorder: j, Approver: j, ObserveOnly: true}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Beside an enforcing session that is given the same, an observing one differs
// in one thing: no rule refuses and nobody is asked. What the rules said, and
// what refuses without them (a panic, a record that fails, the end of the
// session), is the same; and the enforcing one bears no trace of the mode.
func TestObserveLiftsTheRulesAndNothingElse(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		names := rapid.SliceOfN(rapid.SampledFrom(marks), 1, 12).Draw(rt, "names")
		fails := rapid.SampledFrom([]string{"", "", "error", "panic"}).Draw(rt, "record")
		closed := rapid.IntRange(0, 4).Draw(rt, "closed") == 0
		p := rapid.SampledFrom([]Policy{byName, asking, nil}).Draw(rt, "policy")
		run := func(j *journal, s *Session) (xs []*Exchange) {
			j.record = func() error {
				switch fails {
				case "error":
					return errors.New("disk full")
				case "panic":
					panic("log fell")
				}
				return nil
			}
			s.SetPolicy(p)
			if closed {
				s.Close()
			}
			for _, name := range names {
				x := j.message("message")
				if name != "" {
					x = j.call(name)
				}
				xs = append(xs, x)
			}
			half := len(xs) / 2
			s.Do(t.Context(), xs[:half]...)
			s.askers.Wait() // a record that fails is then known to both
			s.Observe(t.Context(), xs[half:]...)
			s.askers.Wait()
			return xs
		}
		strict, loose := newJournal(), newJournal()
		enforced := run(strict, session(t, strict, byName))
		observed := run(loose, observing(t, loose, byName))

		if slices.Contains(loose.lines, "ask") {
			rt.Fatal("a person was asked")
		}
		for i, x := range observed {
			was, is := strict.became(enforced[i]), loose.became(x)
			switch {
			case slices.Contains([]string{"forward", CodePanic, CodeClosed, CodeRecordFailed}, was):
				if is != was {
					rt.Fatalf("%s: %s enforced, %s observed", x.Raw, was, is)
				}
			case is != "forward":
				rt.Fatalf("%s: refused with %s although nothing is enforced", x.Raw, is)
			}
			a, b := enforced[i].Event, x.Event
			if a.Policy != b.Policy || a.RuleLine != b.RuleLine || a.Kind != b.Kind || a.Digest != b.Digest {
				rt.Fatalf("enforced records %+v\nobserved %+v", a, b)
			}
			if a.Stage == string(StageObserve) || a.Code == CodeNotEnforced {
				rt.Fatalf("an enforcing session records %+v", a)
			}
			if is == "forward" && b.Kind == event.Decision && (b.Stage != string(StageObserve) || b.Decision != "allow") {
				rt.Fatalf("an observing session records %+v", b)
			}
			if lifted := b.Code == CodeNotEnforced; b.Kind == event.Decision && is == "forward" && lifted != (b.Policy != "allow") {
				rt.Fatalf("the rules said %s, the code is %s", b.Policy, b.Code)
			}
		}
	})
}

func TestWhatIsRecordedWhenNothingIsEnforced(t *testing.T) {
	for name, want := range map[string]string{ // kind policy decision stage code line, and the reason
		"allow":     "decision allow allow observe allowed_by_rule 1 ",
		"free":      "decision allow allow observe ungoverned 0 ",
		"deny":      "decision deny allow observe not_enforced 3 a rule denies it",
		"prompt":    "decision prompt allow observe not_enforced 2 ",
		"?":         "decision deny allow observe not_enforced 0 no rule allows it",
		"malformed": "decision deny allow observe not_enforced 0 the name has an invisible character",
		"panic":     "decision  deny policy panic 0 panic: rules fell",
	} {
		j := newJournal()
		observing(t, j, byName).Do(t.Context(), j.call(name))
		if ev := j.events[0]; line(ev)+" "+ev.Reason != want {
			t.Errorf("%s: recorded %q %q, want %q", name, line(ev), ev.Reason, want)
		}
	}
}

// A reply that carries requests to the client is lifted as a call is, and a new
// policy ends nothing: the mode is the session's.
func TestObserveHoldsForRepliesAndAcrossPolicies(t *testing.T) {
	j := newJournal()
	s := observing(t, j, byName)
	s.SetPolicy(always(denyRule))
	x := j.call("deny")
	s.Observe(t.Context(), x)
	j.expect(t, x, "forward")
	s.SetPolicy(nil)
	y := j.call("allow")
	s.Do(t.Context(), y)
	j.expect(t, y, "forward")
	if y.Event.Policy != policy.Deny.String() {
		t.Errorf("no policy says %q", y.Event.Policy)
	}
}

func TestTheStartSaysThatNothingIsEnforced(t *testing.T) {
	strict, loose := newJournal(), newJournal()
	a, b := session(t, strict, byName), observing(t, loose, byName)
	for _, s := range []*Session{a, b} {
		if err := s.NoteEvents(&event.Event{Kind: event.Start, Detail: "server"}, &event.Event{Kind: event.End}); err != nil {
			t.Fatal(err)
		}
	}
	if ev := loose.events[0]; ev.Stage != "observe" || ev.Code != CodeNotEnforced || !strings.Contains(ev.Reason, "nothing is enforced") || ev.Detail != "server" {
		t.Errorf("observing, the start is %+v", ev)
	}
	if ev := strict.events[0]; ev.Stage != "" || ev.Code != "" || ev.Reason != "" {
		t.Errorf("enforcing, the start is %+v", ev)
	}
	if ev := loose.events[1]; ev.Stage != "" {
		t.Errorf("the end is %+v", ev)
	}
}
