package gate

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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

// The record says which labels led to a question or a refusal, however it ended: it says so of a call that a person
// allowed, too, whose reason is gone by then. It says so no longer where the labels do not ask any more.
func TestTheRecordSaysWhichLabelsLed(t *testing.T) {
	const both = policy.Untrusted | policy.Secret
	after := func(a policy.Action) *policy.Policy {
		return ruleText(t, "[[rule]]\naction = \""+a.String()+"\"\ntool = \"*\"\nafter = [\"untrusted\"]\n[[rule]]\naction = \"allow\"\ntool = \"*\"\n")
	}
	asks := seen{says: policy.Prompt, led: policy.Known | both, why: "after a page"}
	say := func(r Reply) func(*Session, *seen, *pendingQuestion) {
		return func(_ *Session, _ *seen, q *pendingQuestion) { q.say(r, "") }
	}
	for name, tt := range map[string]struct {
		rules  Policy
		labels seen
		do     func(*Session, *seen, *pendingQuestion) // to the question; nil if nobody is asked
		code   string
		want   policy.Seen
	}{
		"a person allows":        {byName, asks, say(AllowOnce), CodeAllowedByPerson, both},
		"a person hands it over": {byName, asks, say(HandOver), CodeHandedOver, both},
		"a person denies":        {byName, asks, say(DenyOnce), CodeDeniedByPerson, both},
		"nobody answers":         {byName, asks, func(*Session, *seen, *pendingQuestion) { time.Sleep(time.Hour) }, CodeNotAnswered, both},
		"nobody can be asked":    {byName, asks, func(_ *Session, _ *seen, q *pendingQuestion) { q.answer(reply{err: errors.New("no terminal")}) }, CodeNobodyToAsk, both},
		"a team's centre keeps it": {byName, asks, func(_ *Session, _ *seen, q *pendingQuestion) {
			q.answer(reply{Answer: Answer{Note: "kept"}, err: ErrKept})
		}, CodeApprovalWaits, both},
		"the session ends": {byName, asks, func(s *Session, _ *seen, _ *pendingQuestion) { s.Close() }, CodeClosed, both},
		"more came while it waited": {byName, seen{says: policy.Prompt, led: policy.Untrusted, why: "after a page"}, func(_ *Session, l *seen, q *pendingQuestion) {
			l.led = both
			q.say(AllowOnce, "")
		}, CodeAllowedByPerson, both},
		"the labels are cleared while it waits": {byName, asks, func(_ *Session, l *seen, q *pendingQuestion) {
			l.says, l.led, l.why = policy.Allow, 0, ""
			q.say(AllowOnce, "")
		}, CodeAllowedByRule, 0},
		"labels refuse":                        {byName, seen{says: policy.Deny, led: both}, nil, CodeLabels, both},
		"the owner forbids the call":           {byName, seen{says: policy.Deny}, nil, CodeLabels, 0},
		"labels only watch":                    {byName, seen{says: policy.Allow, why: "after a page"}, nil, CodeAllowedByRule, 0},
		"a rule about labels asks":             {after(policy.Prompt), seen{says: policy.Allow, tells: policy.Known | both}, say(AllowOnce), CodeAllowedByPerson, policy.Untrusted},
		"a rule and the level ask":             {after(policy.Prompt), seen{says: policy.Prompt, led: policy.Secret, tells: policy.Known | both}, say(AllowOnce), CodeAllowedByPerson, both},
		"a rule about labels denies":           {after(policy.Deny), seen{says: policy.Allow, tells: policy.Known | both}, nil, CodeDeniedByRule, policy.Untrusted},
		"a rule about other labels lets it go": {after(policy.Deny), seen{says: policy.Allow, tells: policy.Known | policy.PrivateData}, nil, CodeAllowedByRule, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := tt.labels
				s, j, person := sessionWithPerson(t, tt.rules, Options{Labels: &l, AskTimeout: time.Minute})
				x := j.call("allow")
				s.Do(t.Context(), x)
				if all := person.open(); tt.do != nil {
					tt.do(s, &l, all[0])
				} else if len(all) > 0 {
					t.Error("a person is asked")
				}
				s.askers.Wait()
				if ev := x.Event; ev.Code != tt.code || ev.Labels != tt.want {
					t.Errorf("recorded %s with labels %v, want %s with %v", ev.Code, ev.Labels.LabelWords(), tt.code, tt.want.LabelWords())
				}
			})
		})
	}
}
