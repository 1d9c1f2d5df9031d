package gate

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

func TestAnAnswerIsRecordedBeforeTheDecisionBeforeTheForward(t *testing.T) {
	j := newJournal()
	j.person = func(ctx context.Context, q Question) (Answer, error) {
		return Answer{Reply: AllowAlways, Digest: q.Digest, Channel: "terminal", Note: "wrote a rule"}, nil
	}
	s := session(t, j, byName)
	x := j.call("prompt")
	x.Event.Method, x.Event.ID = "tools/call", []byte("7")
	s.Do(t.Context(), x)
	s.askers.Wait()
	if want := []string{"ask", "record 2", "forward prompt"}; !slices.Equal(j.lines, want) {
		t.Fatalf("got %q, want %q", j.lines, want)
	}
	a, d := j.events[0], j.events[1]
	if a.Kind != event.Answered || a.Channel != "terminal" || a.Answer != "always" || a.Detail != "wrote a rule" ||
		a.Digest != d.Digest || a.Method != "tools/call" || string(a.ID) != "7" || a.Server != "srv" {
		t.Errorf("answer recorded as %+v", a)
	}
	if got := line(d); got != "decision prompt allow ask allowed_by_person 2" {
		t.Errorf("decision recorded as %q", got)
	}
}

func TestADenyByAPersonSaysSo(t *testing.T) {
	j := newJournal()
	j.person = says(DenyOnce)
	s := session(t, j, byName)
	x := j.call("prompt")
	s.Do(t.Context(), x)
	s.askers.Wait()
	j.expect(t, x, CodeDeniedByPerson)
	if got := line(j.events[1]); j.events[0].Answer != "deny" || got != "decision prompt deny ask denied_by_person 2" {
		t.Errorf("recorded %q, %q", j.events[0].Answer, got)
	}
	if v := j.verdicts[x]; !strings.Contains(v.Reason, "the owner denied it") || v.Record != "r2" {
		t.Errorf("told %q, record %q", v.Reason, v.Record)
	}
}

func TestWhoCannotBeAskedIsToldWhy(t *testing.T) {
	j := newJournal()
	s := session(t, j, byName)
	x := j.call("prompt")
	s.Do(t.Context(), x)
	s.askers.Wait()
	v := j.verdicts[x]
	if want := "no person could be asked (no terminal)"; v.Reason != want {
		t.Errorf("told %q, want %q", v.Reason, want)
	}
	if strings.Contains(v.Reason, "/dev/tty") || !strings.Contains(j.events[0].Reason, "/dev/tty") {
		t.Errorf("the path belongs in the record %q, not in %q", j.events[0].Reason, v.Reason)
	}
}

func TestTheCallerIsKeptAliveUntilTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		j.person = silent
		j.waiting = func() { panic("progress fell") }
		s := session(t, j, byName)
		x, began := j.call("prompt"), time.Now()
		s.Do(t.Context(), x)
		s.askers.Wait()
		if waited := time.Since(began); waited != 45*time.Second {
			t.Errorf("refused after %s", waited)
		}
		want := []string{"ask", "waiting 5s", "waiting 10s", "waiting 15s", "waiting 20s",
			"waiting 25s", "waiting 30s", "waiting 35s", "waiting 40s", "record 1", "refuse prompt"}
		if !slices.Equal(j.lines, want) && !slices.Equal(j.lines, slices.Insert(want, 9, "waiting 45s")) {
			t.Errorf("got %q", j.lines)
		}
		if ev := j.events[0]; ev.Reason != "no answer within 45s" {
			t.Errorf("recorded %q", ev.Reason)
		}
	})
}

func TestCallsAreAskedAboutAtOnceEachWithItsOwnDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		var open, most atomic.Int32
		j.person = func(ctx context.Context, q Question) (Answer, error) {
			most.Store(max(most.Load(), open.Add(1)))
			defer open.Add(-1)
			select {
			case <-time.After(time.Duration(q.Number) * 20 * time.Second):
				return says(AllowOnce)(ctx, q)
			case <-ctx.Done():
				return Answer{}, ctx.Err()
			}
		}
		s := session(t, j, byName)
		xs := []*Exchange{j.call("prompt"), j.call("prompt"), j.call("prompt"), j.call("allow")}
		began := time.Now()
		s.Do(t.Context(), xs...)
		j.expect(t, xs[3], "forward") // nobody queues behind a person
		if !xs[0].WaitedForPerson() || xs[3].WaitedForPerson() {
			t.Error("held is what waits for a person, and nothing else")
		}
		s.askers.Wait()
		if most.Load() != 3 {
			t.Errorf("%d questions were open at once", most.Load())
		}
		for i, want := range []string{"forward", "forward", CodeNotAnswered} {
			j.expect(t, xs[i], want)
		}
		if waited := time.Since(began); waited != 45*time.Second {
			t.Errorf("the last waited %s", waited)
		}
	})
}

// An approver that does not stop holds up its own question's goroutine and the
// end of the session, no call.
func TestADeafApproverHoldsUpNoCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		j.person = func(ctx context.Context, q Question) (Answer, error) {
			time.Sleep(time.Minute)
			return says(AllowOnce)(ctx, q)
		}
		s := session(t, j, byName)
		x, y := j.call("prompt"), j.call("prompt")
		s.Do(t.Context(), x)
		time.Sleep(30 * time.Second)
		s.Do(t.Context(), y)
		time.Sleep(16 * time.Second)
		j.expect(t, x, CodeNotAnswered)
		s.Close()
		j.expect(t, y, CodeClosed)
	})
}

func TestAFloodOfQuestionsIsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		o    Options
		room int
	}{
		"number":      {Options{MaxWaiting: 3}, 3},
		"bytes":       {Options{MaxWaitingBytes: 5 * len("prompt")}, 5},
		"the default": {Options{}, 64},
	} {
		synctest.Test(t, func(t *testing.T) {
			j := newJournal()
			j.person = silent
			s := sessionOf(t, j, byName, tt.o)
			var xs []*Exchange
			for range tt.room + 1 {
				xs = append(xs, j.call("prompt"))
			}
			s.Do(t.Context(), xs...)
			j.expect(t, xs[tt.room], CodeTooMany)
			if n := s.CountWaiting(); n != tt.room {
				t.Errorf("%s: %d wait", name, n)
			}
			if !s.Withdraw(xs[0]) {
				t.Error(name, "not withdrawn")
			}
			synctest.Wait()
			time.Sleep(time.Second)
			again := j.call("prompt") // there is room again
			s.Do(t.Context(), again)
			s.Close()
			for _, x := range append(xs[1:tt.room], again) {
				j.expect(t, x, CodeClosed)
			}
		})
	}
}

func TestCloseWhileACallIsHeld(t *testing.T) {
	j := newJournal()
	s := session(t, j, byName)
	x := j.call("prompt")
	s.judgeExchange(x)
	s.Close() // between the judging and the asking
	s.startAsking(t.Context(), x, promptRule)
	j.expect(t, x, CodeClosed)
}

func TestWithdraw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		j.person = silent
		s := session(t, j, byName)
		x, queued := j.call("prompt"), j.call("prompt")
		s.Do(t.Context(), x, queued)
		if !s.Withdraw(queued) || !s.Withdraw(x) || !s.Withdraw(x) {
			t.Error("a waiting call could not be withdrawn")
		}
		s.askers.Wait()
		for _, x := range []*Exchange{x, queued} {
			j.expect(t, x, CodeWithdrawn)
			if s.Withdraw(x) {
				t.Error("withdrawn after its end")
			}
		}
		if got := line(j.events[0]); got != "decision prompt deny ask withdrawn 2" {
			t.Errorf("recorded %q", got)
		}
	})
}

func TestWithdrawWaitsForAForwardUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		j.person = says(AllowOnce)
		j.forward = func() error { time.Sleep(time.Second); j.log("written"); return nil }
		s := session(t, j, byName)
		x := j.call("prompt")
		s.Do(t.Context(), x)
		synctest.Wait()
		if s.Withdraw(x) {
			t.Error("withdrawn although it is being forwarded")
		}
		if last := j.lines[len(j.lines)-1]; last != "written" {
			t.Errorf("Withdraw returned after %q", last)
		}
	})
}

// However a withdrawal, an answer and the deadline meet, one of them wins.
func TestWithdrawRaces(t *testing.T) {
	for range 500 {
		j := newJournal()
		j.person = says(AllowOnce)
		s := session(t, j, byName)
		x := j.call("prompt")
		s.Do(t.Context(), x)
		gone := s.Withdraw(x)
		s.Close()
		want := "forward"
		if gone {
			want = CodeWithdrawn
		}
		j.expect(t, x, want)
	}
}

func TestAnAnswerSeenAfterTheDeadlineLoses(t *testing.T) {
	for range 30 { // which of the two is seen first is chance
		synctest.Test(t, func(t *testing.T) {
			j := newJournal()
			j.person = func(ctx context.Context, q Question) (Answer, error) {
				time.Sleep(41 * time.Second)
				return says(AllowOnce)(ctx, q)
			}
			s := session(t, j, byName)
			began := time.Now()
			j.waiting = func() {
				if time.Since(began) >= 40*time.Second { // the caller does not read
					time.Sleep(time.Minute)
				}
			}
			x := j.call("prompt")
			s.Do(t.Context(), x)
			s.askers.Wait()
			j.expect(t, x, CodeNotAnswered)
		})
	}
}

// reused hands the exchange back to its transport inside Refuse.
type reused struct {
	*journal
	again func()
}

func (r reused) Refuse(x *Exchange, v Verdict) {
	r.journal.Refuse(x, v)
	if r.again != nil {
		r.again()
	}
}

func TestAnExchangeMayBeUsedAgainAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		j.person = says(DenyOnce)
		s := sessionOf(t, j, byName, Options{DenyMemory: -1})
		x := j.call("prompt")
		x.Out = reused{j, func() {
			j.person = silent
			x.Out = j
			s.Do(t.Context(), x)
		}}
		s.Do(t.Context(), x)
		synctest.Wait()
		if !s.Withdraw(x) {
			t.Error("the second use was forgotten with the first")
		}
	})
}

func TestAPromptWithoutARule(t *testing.T) {
	j := newJournal()
	j.person = says(AllowSession)
	s := session(t, j, rules(func([]policy.Call) policy.Decision { return policy.Decision{Action: policy.Prompt} }))
	x := j.call("x")
	s.Do(t.Context(), x)
	s.askers.Wait()
	j.expect(t, x, "forward")
}
