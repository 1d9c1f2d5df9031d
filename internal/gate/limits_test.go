package gate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

func ruleText(t *testing.T, src string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("p.toml", []byte(src), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func limited(action, limit string) string {
	return fmt.Sprintf("[[rule]]\naction = %q\ntool = \"*\"\nlimit = %s\n", action, limit)
}

// do hands one call to the gate and waits for what becomes of it.
func do(s *Session, j *journal, name string) (*Exchange, string) {
	x := j.call(name)
	s.Do(context.Background(), x)
	synctest.Wait()
	return x, j.became(x)
}

func TestALimitDeniesWhatIsBeyond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		s := session(t, j, ruleText(t, limited("allow", `"3/min"`)))
		for i := range 3 {
			if _, got := do(s, j, fmt.Sprint("call", i)); got != "forward" {
				t.Errorf("call %d became %s", i, got)
			}
			time.Sleep(10 * time.Second)
		}
		x, got := do(s, j, "late")
		v := j.verdicts[x]
		if got != CodeLimit || v.Stage != StageRate || v.Policy != policy.Allow || v.Reason != "at most 3 a minute; try again in 30 s" {
			t.Errorf("became %s: %+v", got, v)
		}
		if ev := j.events[len(j.events)-1]; ev.Code != CodeLimit || ev.Stage != "rate" || ev.Decision != "deny" || ev.Policy != "allow" || ev.Reason == "" {
			t.Errorf("recorded %+v", ev)
		}
		time.Sleep(30*time.Second - 1)
		if _, got := do(s, j, "early"); got != CodeLimit {
			t.Errorf("a moment too early: %s", got)
		}
		time.Sleep(time.Nanosecond)
		if _, got := do(s, j, "again"); got != "forward" {
			t.Errorf("after the time that was named: %s", got)
		}
		if _, got := do(s, j, "more"); got != CodeLimit {
			t.Errorf("two for the room of one: %s", got)
		}
		// Other rules of the same text go on where the old ones stopped.
		s.SetPolicy(ruleText(t, "# moved\n"+limited("allow", `"3/min"`)))
		if _, got := do(s, j, "reloaded"); got != CodeLimit {
			t.Errorf("after a reload: %s", got)
		}
		s.SetPolicy(ruleText(t, limited("allow", `"4/min"`)))
		if _, got := do(s, j, "changed"); got != "forward" {
			t.Errorf("under another limit: %s", got)
		}
	})
}

// Limits that neither count a call nor say that it is one too many open nothing.
func TestLimitsThatCountNothingDeny(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		for _, action := range []string{"allow", "prompt"} {
			s := sessionOf(t, j, ruleText(t, limited(action, `"9/hour"`)), Options{Limits: broken{}})
			x, got := do(s, j, "x")
			if got != CodeLimit || j.verdicts[x].Reason != "it could not be counted against a limit" {
				t.Errorf("%s: %s, %q", action, got, j.verdicts[x].Reason)
			}
		}
	})
}

type broken struct{}

func (broken) Charge(time.Time, Receipt, []policy.Charge, []policy.Call) (Receipt, Excess) {
	return nil, Excess{}
}

func TestLimitsOfToolsAndServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		m := &Meter{}
		p := ruleText(t, limited("allow", `{ rate = "1/hour", per = "tool" }`))
		s, other := sessionOf(t, j, p, Options{Limits: m}), sessionOf(t, j, p, Options{Limits: m})
		for name, want := range map[string]string{"a": "forward", "b": "forward", strings.Repeat("long", 100): "forward"} {
			if _, got := do(s, j, name); got != want {
				t.Errorf("first %s: %s", name, got)
			}
			x, got := do(other, j, name) // one count for the whole process
			if got != CodeLimit || j.verdicts[x].Reason != "at most 1 an hour; try again in 60 min" {
				t.Errorf("second %s: %s, %q", name, got, j.verdicts[x].Reason)
			}
		}
		s.SetPolicy(ruleText(t, limited("allow", `{ rate = "1/day", per = "server" }`)))
		for i, want := range []string{"forward", CodeLimit} {
			x, got := do(s, j, fmt.Sprint(i))
			if got != want || i == 1 && !strings.HasSuffix(j.verdicts[x].Reason, "try again in 24 h") {
				t.Errorf("call %d: %s, %q", i, got, j.verdicts[x].Reason)
			}
		}
		elsewhere := j.call("x")
		elsewhere.Calls[0].Server = "another"
		s.Do(context.Background(), elsewhere)
		j.expect(t, elsewhere, "forward")
	})
}

// What is not forwarded does not count.
func TestWhatIsNotForwardedIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		d := newPerson(j)
		s := sessionOf(t, j, ruleText(t, limited("prompt", `"1/min"`)), Options{DenyMemory: -1, MaxWaiting: 1})
		begin := func(name string) *Exchange {
			x := j.call(name)
			s.Do(context.Background(), x)
			synctest.Wait()
			return x
		}
		x := begin("no")
		if beyond := begin("beyond"); j.became(beyond) != CodeLimit {
			t.Error("what waits does not count")
		}
		d.questions[0].say(DenyOnce, "")
		synctest.Wait()
		j.expect(t, x, CodeDeniedByPerson)

		x = begin("withdrawn")
		s.Withdraw(x)
		synctest.Wait()
		j.expect(t, x, CodeWithdrawn)

		x = begin("unanswered")
		time.Sleep(50 * time.Second)
		j.expect(t, x, CodeNotAnswered)

		x = begin("unrecorded")
		j.mu.Lock()
		j.record = func() error { return errors.New("disk full") }
		j.mu.Unlock()
		d.questions[3-1].say(AllowOnce, "")
		d.questions[len(d.questions)-1].say(AllowOnce, "")
		synctest.Wait()
		j.expect(t, x, CodeRecordFailed)
		j.mu.Lock()
		j.record = nil
		j.mu.Unlock()

		begin("lost")
		j.forward = func() error { return errors.New("the pipe is closed") }
		d.questions[len(d.questions)-1].say(AllowOnce, "")
		synctest.Wait()
		j.forward = nil

		x = begin("yes")
		d.questions[len(d.questions)-1].say(AllowOnce, "")
		synctest.Wait()
		j.expect(t, x, "forward")
		if x = begin("again"); j.became(x) != CodeLimit {
			t.Errorf("what was forwarded does not count: %s", j.became(x))
		}
		if n := s.o.Limits.(*Meter).counted; n != 1 {
			t.Errorf("%d calls are counted", n)
		}
	})
}

// A call is charged once, however often it is judged, and the person's time is
// not held against it.
func TestACallIsChargedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		d := newPerson(j)
		src := limited("prompt", `"2/min"`)
		s := session(t, j, ruleText(t, src))
		one, two := j.call("one"), j.call("two")
		s.Do(context.Background(), one)
		s.Do(context.Background(), two)
		synctest.Wait()
		for range 3 {
			s.SetPolicy(ruleText(t, src))
			synctest.Wait()
		}
		for _, pendingQuestion := range d.questions {
			pendingQuestion.say(AllowOnce, "")
		}
		synctest.Wait()
		j.expect(t, one, "forward")
		j.expect(t, two, "forward")
		if n := s.o.Limits.(*Meter).counted; n != 2 {
			t.Errorf("%d calls are counted", n)
		}
		// What it was charged for may be gone by the time that it is judged again.
		three := j.call("three")
		s.SetPolicy(ruleText(t, limited("prompt", `"1/s"`)))
		s.Do(context.Background(), three)
		time.Sleep(10 * time.Second)
		s.SetPolicy(ruleText(t, limited("prompt", `"1/s"`)))
		synctest.Wait()
		d.questions[len(d.questions)-1].say(AllowOnce, "")
		synctest.Wait()
		j.expect(t, three, "forward")
		// Rules without a limit give back what those with one have charged.
		four := j.call("four")
		s.SetPolicy(ruleText(t, src))
		time.Sleep(time.Minute)
		s.Do(context.Background(), four)
		synctest.Wait()
		s.SetPolicy(ruleText(t, "[[rule]]\naction = \"allow\"\ntool = \"*\"\n"))
		synctest.Wait()
		j.expect(t, four, "forward")
		if _, got := do(s, j, "five"); got != "forward" || four.paid != nil {
			t.Errorf("became %s, with %+v still paid", got, four.paid)
		}
	})
}

func TestOverALimitAPersonCanBeAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		d := newPerson(j)
		s := session(t, j, ruleText(t, "[[rule]]\naction = \"allow\"\ntool = \"*\"\ndescription = \"Free\"\nlimit = { rate = \"1/min\", over = \"prompt\" }\n"))
		if _, got := do(s, j, "first"); got != "forward" {
			t.Fatal(got)
		}
		for range 2 { // an answer holds for one call, whatever it says
			x, _ := do(s, j, "second")
			pendingQuestion := d.questions[len(d.questions)-1]
			if pendingQuestion.Session || pendingQuestion.Rule.Description != "Free (beyond its limit: at most 1 a minute)" {
				t.Errorf("asked %+v", pendingQuestion.Question)
			}
			pendingQuestion.say(AllowSession, "")
			synctest.Wait()
			j.expect(t, x, "forward")
		}
		if len(s.Grants()) != 0 || s.o.Limits.(*Meter).counted != 1 {
			t.Errorf("%d grants, %d calls counted", len(s.Grants()), s.o.Limits.(*Meter).counted)
		}
		x, _ := do(s, j, "third")
		d.questions[len(d.questions)-1].say(DenyOnce, "")
		synctest.Wait()
		j.expect(t, x, CodeDeniedByPerson)
		// When there is room again before the person has looked, nobody need be asked.
		x, _ = do(s, j, "fourth")
		pendingQuestion := d.questions[len(d.questions)-1]
		time.Sleep(40 * time.Second)
		fifth, _ := do(s, j, "fifth")
		time.Sleep(20 * time.Second)
		pendingQuestion.say(AllowOnce, "")
		j.expect(t, x, CodeNotAnswered)
		d.questions[len(d.questions)-1].say(AllowOnce, "")
		synctest.Wait()
		j.expect(t, fifth, "forward")
		if fifth.paid != nil {
			t.Errorf("charges are left: %+v", fifth.paid)
		}
	})
}

// A limit that asks does not take the place of a rule that says who is asked: else
// calls beyond it could be answered by the client itself.
func TestALimitDoesNotAskInsteadOfARuleOutOfBand(t *testing.T) {
	const ask = "[[rule]]\naction = \"prompt\"\ntool = \"*\"\ndescription = \"Money\"\n"
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		d := newPerson(j)
		layer, err := policy.Parse("org.toml", []byte(ask+"ask = \"out-of-band\"\n"), policy.Options{Layer: "organisation"})
		if err != nil {
			t.Fatal(err)
		}
		under, err := policy.Parse("p.toml", []byte(limited("allow", `{ rate = "1/hour", over = "prompt" }`)), policy.Options{Above: []*policy.Policy{layer}})
		if err != nil {
			t.Fatal(err)
		}
		s := session(t, j, under)
		for i, want := range []struct {
			session bool
			text    string
		}{{true, "Money"}, {false, "Money (beyond its limit: at most 1 an hour)"}, {false, "Money (beyond its limit: at most 1 an hour)"}} {
			x, _ := do(s, j, "pay")
			if len(d.questions) != i+1 {
				t.Fatalf("call %d was not asked about: %s", i, j.became(x))
			}
			pendingQuestion := d.questions[i]
			if !pendingQuestion.Rule.OutOfBand || pendingQuestion.Session != want.session || pendingQuestion.Rule.Description != want.text {
				t.Errorf("call %d: asked %+v", i, pendingQuestion.Question)
			}
			pendingQuestion.say(AllowSession, "")
			synctest.Wait()
			j.expect(t, x, "forward")
		}
	})
}

// Who was asked by a rule that let the client answer has not answered for one that
// does not.
func TestAnAnswerDoesNotServeARuleThatHasBecomeOutOfBand(t *testing.T) {
	const ask = "[[rule]]\naction = \"prompt\"\ntool = \"*\"\n"
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		d := newPerson(j)
		s := session(t, j, ruleText(t, ask))
		for i, c := range []struct{ rules, want string }{{ask + "ask = \"out-of-band\"\n", CodeNobodyToAsk}, {"# later\n" + ask + "ask = \"out-of-band\"\n", "forward"}} {
			x, _ := do(s, j, fmt.Sprint("pay", i))
			s.SetPolicy(ruleText(t, c.rules))
			synctest.Wait()
			d.questions[i].say(AllowOnce, "")
			synctest.Wait()
			j.expect(t, x, c.want)
		}
	})
}

// Several calls in one frame count each, and none when one is too many. A limit
// that denies comes before one that asks.
func TestABatchIsChargedWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		s := session(t, j, ruleText(t, `
[[rule]]
action = "allow"
tool = "ask"
limit = { rate = "1/min", over = "prompt" }
`+limited("allow", `"3/min"`)))
		batch := func(names ...string) string {
			x := j.message(fmt.Sprint(names))
			for _, name := range names {
				x.Calls = append(x.Calls, tool(name))
			}
			s.Do(context.Background(), x)
			synctest.Wait()
			return j.became(x)
		}
		for _, c := range []struct {
			names string
			want  string
		}{
			{"a b c d", CodeLimit}, {"a b", "forward"}, {"a b", CodeLimit}, {"ask ask a b", CodeLimit},
			{"a", "forward"}, {"ask", "forward"}, {"ask ask a", CodeLimit}, {"ask", CodeNobodyToAsk},
		} {
			if got := batch(strings.Fields(c.names)...); got != c.want {
				t.Errorf("%s became %s, want %s", c.names, got, c.want)
			}
		}
		if n := s.o.Limits.(*Meter).counted; n != 4 {
			t.Errorf("%d calls counted", n)
		}
	})
}

func TestObservedLimitsLetPass(t *testing.T) {
	for _, action := range []string{"allow", "prompt"} {
		synctest.Test(t, func(t *testing.T) {
			j := newJournal()
			s := sessionOf(t, j, ruleText(t, limited(action, `"1/min"`)), Options{ObserveOnly: true})
			for range 2 {
				if _, got := do(s, j, "x"); got != "forward" {
					t.Error(got)
				}
			}
			ev := j.events[1]
			if ev.Code != CodeLimit || ev.Policy != action || !strings.HasPrefix(ev.Reason, "at most 1 a minute") {
				t.Errorf("recorded %+v", ev)
			}
			if e := (event.Entry{Event: ev}); e.UnenforcedDecision() != "deny" {
				t.Errorf("would %s", e.UnenforcedDecision())
			}
		})
	}
}

// Many at once never get more than the limit says.
func TestLimitsHoldUnderLoad(t *testing.T) {
	m := &Meter{}
	rule := &policy.Rule{Action: policy.Allow, Rate: policy.Rate{Count: 100, Every: time.Hour, Key: "k"}}
	now := time.Now()
	var wg sync.WaitGroup
	var mu sync.Mutex
	passed := 0
	for range 8 {
		wg.Go(func() {
			for range 100 {
				got, over := m.Charge(now, nil, []policy.Charge{{Rule: rule}}, []policy.Call{tool("x")})
				if over.Rule != nil {
					continue
				}
				mu.Lock()
				passed++
				back := passed%3 == 0
				mu.Unlock()
				if back {
					got.GiveBack()
					mu.Lock()
					passed--
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	if passed > 100 || m.counted != passed {
		t.Errorf("%d passed, %d are counted", passed, m.counted)
	}
}

// A Meter's memory is bounded; what does not fit is over its limit.
func TestAMeterIsBounded(t *testing.T) {
	m := &Meter{}
	now := time.Now()
	charge := func(key string, every time.Duration) bool {
		rule := &policy.Rule{Rate: policy.Rate{Count: 10_000, Every: every, Key: key}}
		_, over := m.Charge(now, nil, []policy.Charge{{Rule: rule}}, []policy.Call{tool("x")})
		return over.Rule == nil
	}
	for i := range maxCounters {
		if !charge(fmt.Sprint(i), time.Minute) {
			t.Fatalf("no room for counter %d", i)
		}
	}
	if charge("more", time.Minute) {
		t.Error("room for one more")
	}
	now = now.Add(time.Minute)
	if !charge("more", time.Minute) || len(m.counters) != 1 {
		t.Errorf("%d counters after all have run out", len(m.counters))
	}
	m.counted = maxCounted
	if charge("more", time.Minute) {
		t.Error("room for one more call")
	}
	receipt{meter: m, items: []chargedCall{{rule: &policy.Rule{}}}}.GiveBack()
}

// Rules that ask for the time get it, and those who ask a person get it with the
// question.
func TestRulesAreToldTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // begins at midnight of 2000-01-01, UTC
		j := newJournal()
		d := newPerson(j)
		s := session(t, j, ruleText(t, "[[rule]]\naction = \"prompt\"\ntool = \"*\"\nwhen = { from = \"01:00\", zone = \"UTC\" }\n"))
		x, got := do(s, j, "early")
		if got != CodeNoRule || !x.Calls[0].At.IsZero() {
			t.Errorf("became %s at %v", got, x.Calls[0].At)
		}
		time.Sleep(time.Hour)
		x, _ = do(s, j, "now")
		if at := d.questions[0].Calls[0].At; !at.Equal(time.Now()) || !x.Calls[0].At.IsZero() {
			t.Errorf("asked about a call at %v", at)
		}
		d.questions[0].say(AllowOnce, "")
		synctest.Wait()
		j.expect(t, x, "forward")
	})
}
