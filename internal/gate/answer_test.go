package gate

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// What is put to a person says everything the gate knows of it.
func TestWhatAQuestionCarries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j, d := sessionWithPerson(t, revised{always(promptRule)}, Options{AskTimeout: 10 * time.Second})
		x, y := j.call("x"), j.call("y")
		x.Event.Server, y.Event.Server, y.Event.ServerGuess = "given", "", "guessed"
		y.Calls[0].Subject = policy.SamplingSubject
		s.Do(t.Context(), x, y)
		questions := d.open()
		for i, want := range []Question{
			{Number: 1, Server: "given", Session: true},
			{Number: 2, Server: "guessed"},
		} {
			q := questions[i].Question
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
		s, j, d := sessionWithPerson(t, always(promptRule), Options{})
		x, y := j.call("x"), j.call("y")
		s.Do(t.Context(), x, y)
		questions := d.open()
		questions[0].say(DenyOnce, "use\x1b[2J the\r\n\ttest \u202efolder\u200b ")
		questions[1].say(AllowOnce, "  ")
		synctest.Wait()
		if got := j.verdicts[x].Reason; got != "the owner denied it: use[2J the test folder" {
			t.Errorf("the agent is told %q", got)
		}
		for _, ev := range j.of(event.Answered) {
			if want := map[string]string{"deny": "use[2J the test folder"}[ev.Answer]; ev.Words != want || ev.By != "anna" || ev.Channel != "person" {
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
		if got := oneLine(in, 500); got != want {
			t.Errorf("%.20q: %q, want %q", in, got, want)
		}
	}
}

// Whoever answered is told what was done, once, in time or not.
func TestAnApproverIsToldWhatBecameOfItsAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j, d := sessionWithPerson(t, byName, Options{})
		names := []string{"went on", "lost", "denied", "silent", "late", "withdrawn", "rules"}
		var xs []*Exchange
		for range names {
			xs = append(xs, j.call("prompt"))
			xs[len(xs)-1].Calls[0].Args = []byte{byte(len(xs))}
		}
		s.Do(t.Context(), xs...)
		questions := d.open()
		lost := j.forward
		j.forward = func() error { return errors.New("broken pipe") }
		questions[1].say(AllowOnce, "")
		synctest.Wait()
		j.forward = lost
		questions[0].say(AllowOnce, "")
		questions[2].say(DenyOnce, "")
		d.deafen(questions[4:]...)
		s.Withdraw(xs[5])
		questions[5].say(AllowSession, "")
		time.Sleep(45 * time.Second)
		synctest.Wait()
		questions[4].say(AllowOnce, "")
		questions[6].answer(reply{err: errors.New("nobody there")})
		s.askers.Wait()
		for i, want := range []string{CodeAllowedByPerson, CodeForwardFailed, CodeDeniedByPerson, "", CodeNotAnswered, CodeWithdrawn, ""} {
			told := d.told[uint64(i+1)]
			if want == "" && len(told) > 0 || want != "" && (len(told) != 1 || told[0].Code != want || told[0].Record == "") {
				t.Errorf("%s: told %+v, want %q", names[i], told, want)
			}
		}
		late := map[string]bool{}
		for _, ev := range j.of(event.Answered) {
			late[ev.Answer] = ev.Code == CodeTooLate
			if ev.Code == CodeTooLate && ev.Ref == "" && ev.Answer == "once" {
				t.Errorf("the late answer names no decision: %+v", ev)
			}
		}
		if n := len(j.of(event.Answered)); n != 5 || !late["session"] || len(s.Grants()) != 0 {
			t.Errorf("%d answers recorded, late: %v, %d grants", n, late, len(s.Grants()))
		}
	})
}

func TestAnAnswerThatTheRulesOverruleIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j, d := sessionWithPerson(t, always(promptRule), Options{})
		x := j.call("x")
		s.Do(t.Context(), x)
		pendingQuestion := d.open()[0]
		d.deafen(pendingQuestion)
		s.SetPolicy(always(denyRule))
		synctest.Wait()
		j.expect(t, x, CodeDeniedByRule)
		pendingQuestion.say(AllowAlways, "")
		s.askers.Wait()
		ev := j.of(event.Answered)
		if len(ev) != 1 || ev[0].Code != CodeTooLate || ev[0].Ref != x.Event.Record || ev[0].Answer != "always" {
			t.Errorf("recorded %+v", ev)
		}
	})
}
