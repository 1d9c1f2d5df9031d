package gate

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/clawai/clawai/policy"
)

// lookers are rules that look at what the session has seen.
type lookers struct {
	rules
	got *[]policy.Seen
}

func (lookers) Labelled() bool { return true }

func (l lookers) DecideAll(cs []policy.Call) policy.Decision {
	*l.got = append(*l.got, cs[0].Seen)
	return l.rules.DecideAll(cs)
}

func TestRulesAreToldWhatWasSeen(t *testing.T) {
	var got []policy.Seen
	j := newJournal()
	l := &seen{says: policy.Allow, tells: policy.Known | policy.Secret}
	s := sessionOf(t, j, lookers{byName, &got}, Options{Labels: l})
	x := j.call("allow")
	s.Do(t.Context(), x)
	if len(got) != 1 || got[0] != l.tells || x.Calls[0].Seen != 0 {
		t.Errorf("told %v; the call itself has %v", got, x.Calls[0].Seen)
	}
	if (None{}).Seen(nil) != 0 {
		t.Error("nobody knows something")
	}
}

// What labels only say, and do not tighten, is for the record.
func TestLabelsThatWatch(t *testing.T) {
	j := newJournal()
	s := sessionOf(t, j, byName, Options{Labels: &seen{says: policy.Allow, why: "after a page"}})
	x := j.call("allow")
	s.Do(t.Context(), x)
	j.expect(t, x, "forward")
	if x.Event.Reason != "after a page" {
		t.Errorf("recorded %q", x.Event.Reason)
	}
}

// A question that labels ask says so, and its answer is for the one call: neither for the
// session nor for a rule.
func TestAQuestionOfLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, p := range map[string]struct{ call, want string }{
			"beside an allow": {"allow", "fine"},
			"beside a prompt": {"prompt", "ask me"},
		} {
			l := &seen{says: policy.Prompt, why: "after a page"}
			s, j, person := sessionWithPerson(t, byName, Options{Labels: l})
			for i := range 2 {
				x := j.call(p.call)
				s.Do(t.Context(), x)
				all := person.open()
				q := all[len(all)-1]
				if q.Rule.Description != p.want || q.Why != "after a page" || !q.Rule.Pinned || q.Session {
					t.Errorf("%s: asked %q, pinned %v, for the session %v", name, q.Rule.Description, q.Rule.Pinned, q.Session)
				}
				q.say(AllowSession, "")
				s.askers.Wait()
				j.expect(t, x, "forward")
				if len(l.let) != i+1 {
					t.Errorf("%s: labels are told of %d calls that go", name, len(l.let))
				}
			}
			if len(s.Grants()) > 0 {
				t.Errorf("%s: granted %v", name, s.Grants())
			}
		}
	})
}

// An answer does not serve a call after which the session has seen more; one that nobody
// gave is recorded with what the question was about.
func TestAnAnswerForWhatWasSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &seen{says: policy.Prompt, why: "after a page"}
		s, j, person := sessionWithPerson(t, byName, Options{Labels: l})
		x := j.call("allow")
		s.Do(t.Context(), x)
		q := person.open()[0]
		l.why = "after a page and a secret"
		q.say(AllowOnce, "")
		s.askers.Wait()
		j.expect(t, x, CodeNobodyToAsk)
		if len(l.let) > 0 {
			t.Error("labels are told that it goes")
		}
		if !strings.Contains(x.Event.Reason, "and a secret") {
			t.Errorf("recorded %q", x.Event.Reason)
		}
	})
}
