package gate

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clawai/clawai/internal/audit"
	"github.com/clawai/clawai/policy"
)

func TestChangedRulesSettleWhatWaits(t *testing.T) {
	for _, tt := range []struct {
		to         Policy
		want, told string
	}{
		{always(allowRule), "forward", "settled: the rules changed and allow it"},
		{always(denyRule), CodeDeniedByRule, "settled: the rules changed and deny it"},
		{nil, CodeNoRule, "settled: the rules changed and deny it"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, j, d := office(t, always(promptRule), Options{})
			x, y := j.call("x"), j.call("y")
			s.Do(t.Context(), x, y)
			synctest.Wait()
			s.SetPolicy(always(promptRule)) // settles nothing
			for _, slip := range d.open() {
				if slip.ctx.Err() != nil {
					t.Error("ended by rules that ask too")
				}
			}
			s.SetPolicy(tt.to)
			for _, slip := range d.open() {
				if cause := context.Cause(slip.ctx); !errors.Is(cause, ErrSettled) || cause.Error() != tt.told {
					t.Errorf("told %v, want %s", cause, tt.told)
				}
			}
			j.expect(t, x, tt.want)
			j.expect(t, y, tt.want)
			if len(d.told) > 0 {
				t.Error("told of an answer that was not given")
			}
		})
	}
}

func TestAnAnswerForLongerSettlesTheSameCallThatWaits(t *testing.T) {
	for _, tt := range []struct {
		reply      Reply
		want, told string
	}{
		{AllowSession, "forward", "settled: allowed for this session"},
		{AllowAlways, "forward", "settled: allowed for this session"},
		{DenyAlways, CodeDeniedByPerson, "settled: denied for good"},
		{AllowOnce, "0 ends: []", ""},
		{DenyOnce, "0 ends: []", ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, j, d := office(t, always(promptRule), Options{})
			x, same, other := j.call("x"), j.call("x"), j.call("y")
			s.Do(t.Context(), x, same, other)
			slips := d.open()
			slips[0].say(tt.reply, "")
			synctest.Wait()
			j.expect(t, same, tt.want)
			j.expect(t, other, "0 ends: []")
			if cause := context.Cause(slips[1].ctx); tt.told != "" && (cause == nil || cause.Error() != tt.told) {
				t.Errorf("%s: told %v, want %s", tt.reply, cause, tt.told)
			}
			if slips[2].ctx.Err() != nil {
				t.Error("ended a question about another call")
			}
		})
	}
}

// A no that a person gave to one of two equal calls leaves the other open: they
// may want it done once. For good means both, whatever is said to the other.
func TestTwoEqualCallsAreAnsweredEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j, d := office(t, always(promptRule), Options{})
		x, y := j.call("x"), j.call("x")
		s.Do(t.Context(), x, y)
		slips := d.open()
		slips[0].say(DenyOnce, "")
		synctest.Wait()
		slips[1].say(AllowOnce, "")
		synctest.Wait()
		j.expect(t, x, CodeDeniedByPerson)
		j.expect(t, y, "forward")
	})
}

func TestTheAskingEndsWithACauseForThePerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j, d := office(t, always(promptRule), Options{})
		x, y, z := j.call("x"), j.call("y"), j.call("z")
		s.Do(t.Context(), x, y)
		time.Sleep(time.Second)
		s.Do(t.Context(), z)
		slips := d.open()
		s.Withdraw(x)
		time.Sleep(44 * time.Second)
		synctest.Wait()
		s.Close()
		for i, want := range []error{ErrWithdrawn, context.DeadlineExceeded, ErrClosed} {
			if cause := context.Cause(slips[i].ctx); !errors.Is(cause, want) {
				t.Errorf("question %d ended with %v, want %v", i+1, cause, want)
			}
		}
		j.expect(t, y, CodeNotAnswered)
	})
}

// A caller that shows a form of its own may be away when the rules settle its
// call. It is answered when it is back, by the rules of that moment.
func TestWhatIsSettledWhileTheCallerIsAway(t *testing.T) {
	for _, tt := range []struct {
		then Policy // before it returns
		want string
	}{
		{always(allowRule), "forward"},
		{always(denyRule), CodeDeniedByRule},
		{always(promptRule), CodeNobodyToAsk},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, j, d := office(t, always(promptRule), Options{})
			x, g := visit(j)
			s.Do(t.Context(), x)
			slip := d.open()[0]
			s.SetPolicy(always(allowRule))
			synctest.Wait()
			if !errors.Is(context.Cause(slip.ctx), ErrSettled) {
				t.Errorf("the asking ended with %v", context.Cause(slip.ctx))
			}
			j.expect(t, x, "0 ends: []")
			s.SetPolicy(tt.then)
			close(g.here)
			synctest.Wait()
			j.expect(t, x, tt.want)
		})
	}
}

func TestTheDeadlineBeatsACallerThatReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j, d := office(t, always(promptRule), Options{})
		x, g := visit(j)
		s.Do(t.Context(), x)
		slip := d.open()[0]
		j.waiting = func() { // the caller does not read, and returns too late
			if time.Until(slip.Deadline) <= 5*time.Second {
				time.Sleep(time.Minute)
				close(g.here)
				j.waiting = nil
			}
		}
		slip.say(AllowOnce, "")
		s.askers.Wait()
		j.expect(t, x, CodeNotAnswered)
		if ev := j.of(audit.Answered); len(ev) != 1 || ev[0].Code != CodeTooLate {
			t.Errorf("recorded %+v", ev)
		}
	})
}

// What is put to a person says everything the gate knows of it.
func TestWhatAQuestionCarries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j, d := office(t, revised{always(promptRule)}, Options{AskTimeout: 10 * time.Second})
		s.o.Server = ""
		x, y := j.call("x"), j.call("y")
		x.Event.Server, y.Event.ServerGuess = "given", "guessed"
		y.Calls[0].Subject = policy.SamplingSubject
		s.Do(t.Context(), x, y)
		slips := d.open()
		for i, want := range []Question{
			{Number: 1, Server: "given", Session: true},
			{Number: 2, Server: "guessed"},
		} {
			q := slips[i].Question
			if q.Number != want.Number || q.Server != want.Server || q.Session != want.Session || q.Revision != "abc" ||
				q.Deadline.Sub(q.Asked) != 10*time.Second || !q.Asked.Equal(time.Now()) || q.Rule != *promptRule || q.Client != nil {
				t.Errorf("asked %+v", q)
			}
		}
	})
}

type revised struct{ Policy }

func (revised) Revision() string { return "abc" }

func TestAPersonsWordsReachTheAgentAndTheRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j, d := office(t, always(promptRule), Options{})
		x, y := j.call("x"), j.call("y")
		s.Do(t.Context(), x, y)
		slips := d.open()
		slips[0].say(DenyOnce, "use\x1b[2J the\r\n\ttest \u202efolder\u200b ")
		slips[1].say(AllowOnce, "  ")
		synctest.Wait()
		if got := j.verdicts[x].Reason; got != "the owner denied it: use[2J the test folder" {
			t.Errorf("the agent is told %q", got)
		}
		for _, ev := range j.of(audit.Answered) {
			if want := map[string]string{"deny": "use[2J the test folder"}[ev.Answer]; ev.Words != want || ev.By != "anna" || ev.Rung != "desk" {
				t.Errorf("recorded %+v", ev)
			}
		}
	})
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"":                            "",
		" \n ":                        "",
		"one\n\n\ttwo":                "one two",
		"\u202eabc\u2066\ufeff":       "abc",
		"a\xffb":                      "a\ufffdb",
		"\u115fx\ufe0f\U000e0041":     "x",
		"Grüße, 你好":                   "Grüße, 你好",
		"\x1b]8;;http://x\aclick\x1b": "]8;;http://xclick",
		strings.Repeat("a", 500):      strings.Repeat("a", 500),
		strings.Repeat("a", 501):      strings.Repeat("a", 499) + "…",
		strings.Repeat("ä\n", 9999):   strings.Repeat("ä ", 249) + "ä…",
	} {
		if got := plain(in, 500); got != want {
			t.Errorf("%.20q: %q, want %q", in, got, want)
		}
	}
}

// Whoever answered is told what was done, once, in time or not.
func TestAnApproverIsToldWhatBecameOfItsAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j, d := office(t, byName, Options{})
		names := []string{"went on", "lost", "denied", "silent", "late", "withdrawn", "rules"}
		var xs []*Exchange
		for range names {
			xs = append(xs, j.call("prompt"))
			xs[len(xs)-1].Calls[0].Args = []byte{byte(len(xs))}
		}
		s.Do(t.Context(), xs...)
		slips := d.open()
		lost := j.forward
		j.forward = func() error { return errors.New("broken pipe") }
		slips[1].say(AllowOnce, "")
		synctest.Wait()
		j.forward = lost
		slips[0].say(AllowOnce, "")
		slips[2].say(DenyOnce, "")
		slips[4].deaf, slips[5].deaf, slips[6].deaf = true, true, true
		s.Withdraw(xs[5])
		slips[5].say(AllowSession, "")
		time.Sleep(45 * time.Second)
		synctest.Wait()
		slips[4].say(AllowOnce, "")
		slips[6].answer(reply{err: errors.New("nobody there")})
		s.askers.Wait()
		for i, want := range []string{CodeAllowedByPerson, CodeForwardFailed, CodeDeniedByPerson, "", CodeNotAnswered, CodeWithdrawn, ""} {
			told := d.told[uint64(i+1)]
			if want == "" && len(told) > 0 || want != "" && (len(told) != 1 || told[0].Code != want || told[0].Record == "") {
				t.Errorf("%s: told %+v, want %q", names[i], told, want)
			}
		}
		late := map[string]bool{}
		for _, ev := range j.of(audit.Answered) {
			late[ev.Answer] = ev.Code == CodeTooLate
			if ev.Code == CodeTooLate && ev.Ref == "" && ev.Answer == "once" {
				t.Errorf("the late answer names no decision: %+v", ev)
			}
		}
		if n := len(j.of(audit.Answered)); n != 5 || !late["session"] || len(s.Grants()) != 0 {
			t.Errorf("%d answers recorded, late: %v, %d grants", n, late, len(s.Grants()))
		}
	})
}

func TestAnAnswerThatTheRulesOverruleIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j, d := office(t, always(promptRule), Options{})
		x := j.call("x")
		s.Do(t.Context(), x)
		slip := d.open()[0]
		slip.deaf = true
		s.SetPolicy(always(denyRule))
		synctest.Wait()
		j.expect(t, x, CodeDeniedByRule)
		slip.say(AllowAlways, "")
		s.askers.Wait()
		ev := j.of(audit.Answered)
		if len(ev) != 1 || ev[0].Code != CodeTooLate || ev[0].Ref != x.Event.Record || ev[0].Answer != "always" {
			t.Errorf("recorded %+v", ev)
		}
	})
}
