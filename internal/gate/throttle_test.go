package gate

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// ask does the call and says what became of it, or "asked".
func ask(t *testing.T, s *Session, j *journal, name string) string {
	t.Helper()
	x := j.call(name)
	s.Do(t.Context(), x)
	synctest.Wait()
	if len(j.ends[x]) == 0 {
		s.Withdraw(x)
		synctest.Wait()
		return "asked"
	}
	return j.became(x)
}

func answered(t *testing.T, s *Session, j *journal, d *person, name string, r Reply) {
	t.Helper()
	s.Do(t.Context(), j.call(name))
	questions := d.open()
	questions[len(questions)-1].say(r, "not now")
	synctest.Wait()
}

func TestTheSameDeniedCallIsNotAskedAboutAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j, d := sessionWithPerson(t, always(promptRule), Options{})
		answered(t, s, j, d, "x", DenyOnce)
		if got := ask(t, s, j, "x"); got != CodeDeniedRecently {
			t.Error(got)
		}
		time.Sleep(12 * time.Second)
		x := j.call("x")
		s.Do(t.Context(), x, j.call("other"))
		j.expect(t, x, CodeDeniedRecently)
		v, ev := j.verdicts[x], x.Event
		if want := "the owner denied the same call 12 seconds ago: not now"; v.Reason != want || v.Record != ev.Record {
			t.Errorf("told %q, want %q", v.Reason, want)
		}
		if got := line(ev); got != "decision prompt deny ask denied_recently 2" {
			t.Errorf("recorded %q", got)
		}
		if got := ask(t, s, j, "y"); got != "asked" {
			t.Errorf("another call: %s", got)
		}
		time.Sleep(48 * time.Second)
		if got := ask(t, s, j, "x"); got != "asked" {
			t.Errorf("after a minute: %s", got)
		}
		answered(t, s, j, d, "x", DenyOnce)
		s.SetPolicy(always(promptRule))
		if got := ask(t, s, j, "x"); got != "asked" {
			t.Errorf("after the rules changed: %s", got)
		}
	})
}

func TestOnlyAPersonsNoIsRemembered(t *testing.T) {
	for name, refuse := range map[string]func(*pendingQuestion){
		"timeout": func(*pendingQuestion) { time.Sleep(45 * time.Second) },
		"error":   func(s *pendingQuestion) { s.answer(reply{err: fmt.Errorf("no terminal")}) },
		"wrong":   func(s *pendingQuestion) { s.answer(reply{Answer: Answer{Channel: "person"}}) },
		"yes":     func(s *pendingQuestion) { s.say(AllowOnce, "") },
	} {
		synctest.Test(t, func(t *testing.T) {
			s, j, d := sessionWithPerson(t, always(promptRule), Options{})
			s.Do(t.Context(), j.call("x"))
			refuse(d.open()[0])
			if got := ask(t, s, j, "x"); got != "asked" {
				t.Errorf("after %s: %s", name, got)
			}
		})
	}
}

func TestHowLongANoHolds(t *testing.T) {
	for _, tt := range []struct {
		memory time.Duration
		reply  Reply
		after  time.Duration
		part   bool // the person was not shown everything
		want   string
	}{
		{0, DenyOnce, time.Minute - 1, false, CodeDeniedRecently},
		{0, DenyOnce, time.Minute, false, "asked"},
		{time.Second, DenyOnce, time.Second - 1, false, CodeDeniedRecently},
		{time.Second, DenyOnce, time.Second, false, "asked"},
		{-1, DenyOnce, 0, false, "asked"},
		{0, DenyOnce, 0, true, "asked"},
		{0, DenyAlways, time.Hour, false, CodeDeniedByPerson},
		{-1, DenyAlways, time.Hour, false, CodeDeniedByPerson},
		{0, DenyAlways, time.Hour, true, CodeDeniedByPerson},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, j, d := sessionWithPerson(t, always(promptRule), Options{DenyMemory: tt.memory})
			call := func() *Exchange {
				x := j.call("x")
				if tt.part {
					x.Calls[0].Subject = policy.SamplingSubject
				}
				s.Do(t.Context(), x)
				return x
			}
			call()
			d.open()[0].say(tt.reply, "")
			synctest.Wait()
			time.Sleep(tt.after)
			x := call()
			synctest.Wait()
			got := "asked"
			if len(j.ends[x]) > 0 {
				got = j.became(x)
			}
			if got != tt.want {
				t.Errorf("%+v: %s", tt, got)
			}
			s.SetPolicy(always(promptRule))
			x = call()
			synctest.Wait()
			j.expect(t, x, "0 ends: []")
		})
	}
}

func TestANoForGoodSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j, d := sessionWithPerson(t, always(promptRule), Options{})
		answered(t, s, j, d, "x", DenyAlways)
		answered(t, s, j, d, "y", DenyOnce)
		x := j.call("x")
		s.Do(t.Context(), x)
		if got := j.verdicts[x].Reason; got != "the owner denied it for good: not now" || line(x.Event) != "decision prompt deny ask denied_by_person 2" {
			t.Errorf("told %q, recorded %q", got, line(x.Event))
		}
		if ev := j.of(event.Answered)[0]; ev.Answer != "deny always" {
			t.Errorf("recorded %q", ev.Answer)
		}
	})
}

// The rules may change between the judging and the no: it is about what the
// person saw, and the rules that ask by now are those it is remembered for.
func TestANoHoldsForTheRulesThatAskByNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j, d := sessionWithPerson(t, always(promptRule), Options{})
		s.Do(t.Context(), j.call("x"))
		pendingQuestion := d.open()[0]
		s.SetPolicy(always(rule(policy.Prompt, 9, "moved")))
		synctest.Wait()
		pendingQuestion.say(DenyOnce, "")
		synctest.Wait()
		if got := ask(t, s, j, "x"); got != CodeDeniedRecently {
			t.Error(got)
		}
	})
}

func TestDenialsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j, d := sessionWithPerson(t, always(promptRule), Options{MaxWaiting: 2 * maxKept})
		for i := range maxKept + 1 {
			s.Do(t.Context(), j.call(fmt.Sprint(i)))
		}
		for _, pendingQuestion := range d.open() {
			pendingQuestion.say(DenyOnce, strings.Repeat("w", 10_000))
			synctest.Wait()
			time.Sleep(time.Millisecond)
		}
		if n := len(s.memory.denials); n != maxKept {
			t.Errorf("%d are kept", n)
		}
		for i, want := range map[int]string{0: "asked", 1: CodeDeniedRecently, maxKept: CodeDeniedRecently} {
			if got := ask(t, s, j, fmt.Sprint(i)); got != want {
				t.Errorf("call %d: %s, want %s", i, got, want)
			}
		}
	})
}

// asksEvery does n calls, one every so often, and gives what became of each in
// one letter: a asked, m muted.
func asksEvery(t *testing.T, s *Session, j *journal, n int, every time.Duration) string {
	t.Helper()
	var b strings.Builder
	for range n {
		b.WriteByte(ask(t, s, j, fmt.Sprint(len(j.ends)))[0])
		time.Sleep(every)
	}
	return b.String()
}

func TestAServerThatAsksTooOftenIsMuted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type notice struct {
			n     int
			until time.Time
		}
		var notices []notice
		s, j, _ := sessionWithPerson(t, always(promptRule), Options{AskPerMinute: 3, OnMuted: func(n int, until time.Time) {
			notices = append(notices, notice{n, until})
			panic("a notice fell")
		}})
		if got := asksEvery(t, s, j, 6, 2*time.Second); got != "aaammm" {
			t.Errorf("became %s", got)
		}
		began := time.Now().Add(-6 * time.Second) // the fourth
		x := j.call("x")
		s.Do(t.Context(), x)
		if v := j.verdicts[x]; v.Code != CodeMuted || !strings.Contains(v.Reason, "too many questions") || line(x.Event) != "decision prompt deny ask muted 2" {
			t.Errorf("told %+v, recorded %q", v, line(x.Event))
		}
		if muted := j.of(event.Muted); len(muted) != 1 || muted[0].Server != "srv" || muted[0].Code != CodeMuted ||
			!strings.Contains(muted[0].Reason, began.Add(time.Minute).UTC().Format(time.RFC3339)) {
			t.Errorf("recorded %+v", muted)
		}
		if len(notices) != 1 || notices[0].n != 3 || !notices[0].until.Equal(began.Add(time.Minute)) {
			t.Errorf("noticed %v", notices)
		}
		s.SetPolicy(always(promptRule)) // is no way out
		if got := ask(t, s, j, "y"); got != CodeMuted {
			t.Error(got)
		}
		time.Sleep(time.Until(began.Add(time.Minute)))
		if got := asksEvery(t, s, j, 5, time.Second); got != "aaamm" {
			t.Errorf("afterwards became %s", got)
		}
		if n := len(j.of(event.Muted)); n != 2 || len(notices) != 2 {
			t.Errorf("%d records, %d notices", n, len(notices))
		}
	})
}

func TestABurstIsOneQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j, d := sessionWithPerson(t, always(promptRule), Options{AskPerMinute: 2})
		for burst := range 2 {
			var xs []*Exchange
			for i := range 30 {
				xs = append(xs, j.call(fmt.Sprint(burst, i)))
			}
			s.Do(t.Context(), xs[:20]...)
			time.Sleep(999 * time.Millisecond)
			s.Do(t.Context(), xs[20:]...)
			if n := len(d.open()); n != 30*(burst+1) {
				t.Errorf("%d were asked", n)
			}
			time.Sleep(time.Millisecond)
		}
		if got := ask(t, s, j, "x"); got != CodeMuted {
			t.Error(got)
		}
	})
}

// However fast they are answered, no more than so many come as one; another
// server's are not among them.
func TestABurstIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j, d := sessionWithPerson(t, always(promptRule), Options{})
		for i := range atOnce {
			answered(t, s, j, d, fmt.Sprint(i), AllowOnce)
		}
		x := j.call("one more")
		s.Do(t.Context(), x)
		j.expect(t, x, CodeTooMany)
		if v := j.verdicts[x]; line(x.Event) != "decision prompt deny ask too_many_questions 2" || !strings.Contains(v.Reason, "more than 64 others") {
			t.Errorf("recorded %q, told %q", line(x.Event), v.Reason)
		}
		other, k, _ := sessionWithPerson(t, always(promptRule), Options{})
		if got := ask(t, other, k, "x"); got != "asked" {
			t.Errorf("of another server: %s", got)
		}
		time.Sleep(time.Second)
		if got := ask(t, s, j, "y"); got != "asked" {
			t.Errorf("a second later: %s", got)
		}
	})
}

func TestHowManyQuestionsAMinuteHolds(t *testing.T) {
	for _, tt := range []struct {
		limit, calls int
		every        time.Duration
		want         string
	}{
		{0, 31, time.Second, strings.Repeat("a", 30) + "m"},
		{0, 60, 2 * time.Second, strings.Repeat("a", 60)}, // never more than 30 within a minute
		{-1, 100, time.Second, strings.Repeat("a", 100)},
		{1, 4, 30 * time.Second, "amma"}, // muted for a minute
	} {
		synctest.Test(t, func(t *testing.T) {
			s, j, _ := sessionWithPerson(t, always(promptRule), Options{AskPerMinute: tt.limit})
			if got := asksEvery(t, s, j, tt.calls, tt.every); got != tt.want {
				t.Errorf("limit %d: %s, want %s", tt.limit, got, tt.want)
			}
		})
	}
}

// Rules that allow or deny, and answers for the session, need nobody.
func TestAMutedSessionGoesOnWithWhatNeedsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j, d := sessionWithPerson(t, byName, Options{AskPerMinute: 1})
		answered(t, s, j, d, "prompt", AllowSession)
		time.Sleep(time.Second)
		x := j.call("prompt")
		x.Calls[0].Args = nil
		s.Do(t.Context(), x)
		j.expect(t, x, CodeMuted)
		for name, want := range map[string]string{"prompt": "forward", "allow": "forward", "deny": CodeDeniedByRule} {
			if got := ask(t, s, j, name); got != want {
				t.Errorf("%s: %s", name, got)
			}
		}
	})
}

// What one server asks by itself, or is asked about, leaves the others their questions.
func TestOneServerLeavesTheOthersTheirQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j, d := sessionWithPerson(t, always(promptRule), Options{AskPerMinute: 3, MaxWaiting: 2})
		from := func(server, direction, name string) *Exchange {
			x := j.call(name)
			x.Event.Server, x.Event.Direction = server, direction
			return x
		}
		for i := range 5 { // one waits for ever, and is asked more than it may
			s.Do(t.Context(), from("loud", "server", fmt.Sprint("loud", i)))
			time.Sleep(2 * time.Second)
		}
		if n := len(d.open()); n != 2 {
			t.Errorf("%d questions of the loud one wait", n)
		}
		for _, c := range []struct{ server, direction, name string }{{"other", "server", "a"}, {"other", "client", "b"}, {"third", "client", "c"}} {
			x := from(c.server, c.direction, c.name)
			s.Do(t.Context(), x)
			synctest.Wait()
			if len(j.ends[x]) > 0 {
				t.Errorf("%s, %s: %s", c.server, c.name, j.became(x))
			}
			time.Sleep(2 * time.Second)
		}
		loud := from("loud", "server", "more")
		s.Do(t.Context(), loud)
		j.expect(t, loud, CodeMuted)
	})
}

// In one second each server may have as many questions as may wait.
func TestABurstIsBoundedByServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j, d := sessionWithPerson(t, always(promptRule), Options{})
		for i := range atOnce {
			answered(t, s, j, d, fmt.Sprint(i), AllowOnce)
		}
		x := j.call("another's")
		x.Event.Server = "another"
		s.Do(t.Context(), x)
		synctest.Wait()
		if len(j.ends[x]) > 0 {
			t.Error(j.became(x))
		}
	})
}
