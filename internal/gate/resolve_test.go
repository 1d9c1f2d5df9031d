package gate

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clawai/clawai/internal/event"
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
			s, j, d := sessionWithPerson(t, always(promptRule), Options{})
			x, y := j.call("x"), j.call("y")
			s.Do(t.Context(), x, y)
			synctest.Wait()
			s.SetPolicy(always(promptRule)) // settles nothing
			for _, pendingQuestion := range d.open() {
				if pendingQuestion.ctx.Err() != nil {
					t.Error("ended by rules that ask too")
				}
			}
			s.SetPolicy(tt.to)
			for _, pendingQuestion := range d.open() {
				if cause := context.Cause(pendingQuestion.ctx); !errors.Is(cause, ErrResolved) || cause.Error() != tt.told {
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
			s, j, d := sessionWithPerson(t, always(promptRule), Options{})
			x, same, other := j.call("x"), j.call("x"), j.call("y")
			s.Do(t.Context(), x, same, other)
			questions := d.open()
			questions[0].say(tt.reply, "")
			synctest.Wait()
			j.expect(t, same, tt.want)
			j.expect(t, other, "0 ends: []")
			if cause := context.Cause(questions[1].ctx); tt.told != "" && (cause == nil || cause.Error() != tt.told) {
				t.Errorf("%s: told %v, want %s", tt.reply, cause, tt.told)
			}
			if questions[2].ctx.Err() != nil {
				t.Error("ended a question about another call")
			}
		})
	}
}

// A no that a person gave to one of two equal calls leaves the other open: they
// may want it done once. For good means both, whatever is said to the other.
func TestTwoEqualCallsAreAnsweredEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j, d := sessionWithPerson(t, always(promptRule), Options{})
		x, y := j.call("x"), j.call("x")
		s.Do(t.Context(), x, y)
		questions := d.open()
		questions[0].say(DenyOnce, "")
		synctest.Wait()
		questions[1].say(AllowOnce, "")
		synctest.Wait()
		j.expect(t, x, CodeDeniedByPerson)
		j.expect(t, y, "forward")
	})
}

func TestTheAskingEndsWithACauseForThePerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j, d := sessionWithPerson(t, always(promptRule), Options{})
		x, y, z := j.call("x"), j.call("y"), j.call("z")
		s.Do(t.Context(), x, y)
		time.Sleep(time.Second)
		s.Do(t.Context(), z)
		questions := d.open()
		s.Withdraw(x)
		time.Sleep(44 * time.Second)
		synctest.Wait()
		s.Close()
		for i, want := range []error{ErrWithdrawn, context.DeadlineExceeded, ErrClosed} {
			if cause := context.Cause(questions[i].ctx); !errors.Is(cause, want) {
				t.Errorf("question %d ended with %v, want %v", i+1, cause, want)
			}
		}
		j.expect(t, y, CodeNotAnswered)
	})
}

// busy is a session whose one call x waits while its caller does not read, so that
// whatever meanwhile does is seen at once, when the deadline is so far away.
func busy(t *testing.T, left time.Duration, meanwhile func(s *Session, pendingQuestion *pendingQuestion)) string {
	var became string
	synctest.Test(t, func(t *testing.T) {
		s, j, d := sessionWithPerson(t, always(promptRule), Options{})
		d.deaf = 1
		began, seen := time.Now(), false
		j.waiting = func() {
			if seen || time.Since(began) < 40*time.Second {
				return
			}
			seen = true
			time.Sleep(5*time.Second - left)
			d.mu.Lock()
			pendingQuestion := d.questions[0]
			d.mu.Unlock()
			meanwhile(s, pendingQuestion)
			time.Sleep(time.Millisecond)
		}
		x := j.call("x")
		s.Do(t.Context(), x)
		time.Sleep(time.Minute)
		d.open()[0].say(AllowOnce, "") // late, if nothing was said
		s.askers.Wait()
		became = j.became(x)
	})
	return became
}

// Which of several is seen first is chance; what is done is not.
func TestWhatIsSeenAtOnce(t *testing.T) {
	for range 30 {
		if got := busy(t, time.Second, func(s *Session, pendingQuestion *pendingQuestion) {
			s.SetPolicy(always(allowRule))
			pendingQuestion.say(DenyOnce, "")
		}); got != CodeDeniedByPerson {
			t.Errorf("an answer and new rules: %s", got)
		}
		if got := busy(t, -time.Second, func(s *Session, _ *pendingQuestion) { s.SetPolicy(always(allowRule)) }); got != CodeNotAnswered {
			t.Errorf("new rules and the deadline: %s", got)
		}
		if got := busy(t, -time.Second, func(_ *Session, pendingQuestion *pendingQuestion) { pendingQuestion.say(AllowOnce, "") }); got != CodeNotAnswered {
			t.Errorf("an answer and the deadline: %s", got)
		}
	}
}

// A no to one of two equal calls while the other is granted: the last word counts.
func TestANoThatComesWithAGrantEndsIt(t *testing.T) {
	var s *Session
	got := busy(t, time.Second, func(of *Session, pendingQuestion *pendingQuestion) {
		s = of
		q := &question{x: &Exchange{Calls: pendingQuestion.Calls}, value: valueOf(pendingQuestion.Calls), now: promptRule, under: s.policy.Load()}
		s.rememberAllow(q, nil)
		pendingQuestion.say(DenyOnce, "")
	})
	if got != CodeDeniedByPerson || len(s.memory.grants) != 0 || len(s.memory.denials) != 1 {
		t.Errorf("became %s, remembered %+v", got, s.memory)
	}
}

// The rules may change between the judging of a call and the asking about it.
func TestRulesThatChangeBeforeTheAsking(t *testing.T) {
	for _, next := range []*policy.Rule{allowRule, denyRule, rule(policy.Prompt, 7, "new")} {
		synctest.Test(t, func(t *testing.T) {
			s, j, d := sessionWithPerson(t, always(promptRule), Options{})
			x := j.call("x")
			s.judgeExchange(x)
			s.SetPolicy(always(next))
			s.startAsking(t.Context(), x, promptRule)
			switch questions := d.open(); {
			case next.Action != policy.Prompt:
				if len(questions) != 0 || len(j.ends[x]) != 1 || (j.ends[x][0] == "forward") != (next.Action == policy.Allow) {
					t.Errorf("asked %d times, became %v", len(questions), j.ends[x])
				}
			case len(questions) != 1 || questions[0].Rule != *next:
				t.Errorf("shown %v", questions)
			}
		})
	}
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
			s, j, d := sessionWithPerson(t, always(promptRule), Options{})
			x, g := visit(j)
			s.Do(t.Context(), x)
			pendingQuestion := d.open()[0]
			s.SetPolicy(always(allowRule))
			synctest.Wait()
			if !errors.Is(context.Cause(pendingQuestion.ctx), ErrResolved) {
				t.Errorf("the asking ended with %v", context.Cause(pendingQuestion.ctx))
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
		s, j, d := sessionWithPerson(t, always(promptRule), Options{})
		x, g := visit(j)
		began, seen := time.Now(), false
		j.waiting = func() { // the caller does not read, and returns too late
			if !seen && time.Since(began) >= 40*time.Second {
				seen = true
				time.Sleep(time.Minute)
				close(g.here)
			}
		}
		s.Do(t.Context(), x)
		d.open()[0].say(AllowOnce, "")
		s.askers.Wait()
		j.expect(t, x, CodeNotAnswered)
		if ev := j.of(event.Answered); len(ev) != 1 || ev[0].Code != CodeTooLate {
			t.Errorf("recorded %+v", ev)
		}
	})
}
