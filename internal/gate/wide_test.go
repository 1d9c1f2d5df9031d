package gate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clawai/clawai/policy"
)

// named is a Bound of calls whose name begins so; "" is every call.
type named string

func (n named) Covers(cs []policy.Call) bool {
	return !slices.ContainsFunc(cs, func(c policy.Call) bool { return !strings.HasPrefix(c.Names[0], string(n)) })
}

func (n named) Title() string { return "calls like " + string(n) }

// reach answers the newest question for the session, as far as b goes.
func reach(t *testing.T, s *Session, j *journal, d *person, name string, b Bound) {
	t.Helper()
	s.Do(t.Context(), j.call(name))
	all := d.open()
	q := all[len(all)-1]
	q.answer(reply{Answer: Answer{Reply: AllowSession, Digest: q.Digest, Channel: "person", Bound: b}})
	synctest.Wait()
}

func TestAWideGrantLetsThroughWhatItCovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changed := 0
		s, j, d := sessionWithPerson(t, always(promptRule), Options{OnGrants: func() { changed++ }})
		reach(t, s, j, d, "edit 1", named("edit"))
		for name, want := range map[string]string{"edit 1": "forward", "edit 2": "forward", "send": "asked"} {
			if got := ask(t, s, j, name); got != want {
				t.Errorf("%s: %s", name, got)
			}
		}
		all := s.Grants()
		if len(all) != 1 || all[0].Uses != 2 || all[0].Reach != "calls like edit" || all[0].Calls[0].Names[0] != "edit 1" || changed != 1 {
			t.Fatalf("%+v, %d changes", all, changed)
		}
		if !s.Revoke(all[0].ID) || s.Revoke(all[0].ID) || changed != 2 {
			t.Error("it was not taken back, or twice")
		}
		if got := ask(t, s, j, "edit 2"); got != "asked" {
			t.Errorf("after it was taken back: %s", got)
		}
	})
}

// Whatever a grant covers, it lifts the prompt of the rule that asked, and nothing else:
// no deny, no limit, no label, no other rule's prompt, and nothing after the rules have
// changed or in another session.
func TestAWideGrantLiftsOnePromptAlone(t *testing.T) {
	const src = `
[[rule]]
action = "deny"
tool = "x denied*"
[[rule]]
action = "prompt"
tool = "x other*"
[[rule]]
action = "prompt"
tool = "*"
limit = "9/min"
`
	synctest.Test(t, func(t *testing.T) {
		s, j, d := sessionWithPerson(t, ruleText(t, src), Options{DenyMemory: -1, AskPerMinute: -1})
		reach(t, s, j, d, "x 1", named(""))
		for name, want := range map[string]string{"x 2": "forward", "x denied": CodeDeniedByRule, "x other": "asked"} {
			if got := ask(t, s, j, name); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
		for i := range 12 {
			if got, want := ask(t, s, j, fmt.Sprint("x more ", i)), "forward"; i < 7 && got != want || i >= 7 && got != CodeLimit {
				t.Errorf("call %d: %s", i, got)
			}
		}
		second, j2, _ := sessionWithPerson(t, ruleText(t, src), Options{})
		if got := ask(t, second, j2, "x 2"); got != "asked" {
			t.Errorf("in another session: %s", got)
		}
		s.SetPolicy(ruleText(t, src))
		time.Sleep(2 * time.Minute)
		if got := ask(t, s, j, "x 2"); got != "asked" || len(s.Grants()) != 0 {
			t.Errorf("after the rules were loaded again: %s, %d grants", got, len(s.Grants()))
		}
	})
	synctest.Test(t, func(t *testing.T) { // a label that comes later
		l := &seen{says: policy.Allow}
		s, j, d := sessionWithPerson(t, always(promptRule), Options{Labels: l})
		reach(t, s, j, d, "x 1", named(""))
		l.says, l.why = policy.Prompt, "it has seen the web"
		if got := ask(t, s, j, "x 2"); got != "asked" {
			t.Errorf("with a label: %s", got)
		}
	})
}

// Two questions at once: the answer to one settles the other, and both use one grant.
func TestTwoQuestionsUseOneWideGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j, d := sessionWithPerson(t, always(promptRule), Options{})
		other, stranger := j.call("edit 2"), j.call("send")
		s.Do(t.Context(), other)
		s.Do(t.Context(), stranger)
		reach(t, s, j, d, "edit 1", named("edit"))
		j.expect(t, other, "forward")
		if len(j.ends[stranger]) != 0 {
			t.Errorf("what is beyond it became %v", j.ends[stranger])
		}
		if all := s.Grants(); len(all) != 1 || all[0].Uses != 1 {
			t.Errorf("%+v", all)
		}
		s.Withdraw(stranger)
	})
	synctest.Test(t, func(t *testing.T) { // the same answer to both, before either knows
		j := newJournal()
		s := session(t, j, always(promptRule))
		for _, name := range []string{"edit 1", "edit 2"} {
			q := &question{x: j.call(name), now: promptRule, under: s.policy.Load()}
			q.value = valueOf(q.x.Calls)
			s.rememberAllow(q, named("edit"))
		}
		if n := len(s.Grants()); n != 1 {
			t.Errorf("%d grants", n)
		}
	})
}

// A person's no is about this very call, and stands before a grant for many.
func TestANoStandsBeforeAWideGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j, d := sessionWithPerson(t, always(promptRule), Options{})
		answered(t, s, j, d, "edit 2", DenyOnce)
		reach(t, s, j, d, "edit 1", named("edit"))
		if got := ask(t, s, j, "edit 2"); got != CodeDeniedRecently {
			t.Errorf("a no from before: %s", got)
		}
		time.Sleep(time.Minute)
		if got := ask(t, s, j, "edit 2"); got != "forward" {
			t.Errorf("after its time: %s", got)
		}
	})
	synctest.Test(t, func(t *testing.T) { // and one that comes with it ends it
		j := newJournal()
		s := session(t, j, always(promptRule))
		q := &question{x: j.call("edit 1"), now: promptRule, under: s.policy.Load()}
		q.value = valueOf(q.x.Calls)
		s.rememberAllow(q, named("edit"))
		s.rememberDeny(q, reply{Answer: Answer{Reply: DenyOnce}})
		if len(s.Grants()) != 0 || !q.regranted {
			t.Error("the grant still holds")
		}
	})
}

// Only an answer for the session has a bound, and only where one could hold.
func TestOnlyAnAnswerForTheSessionReaches(t *testing.T) {
	for _, r := range []Reply{AllowOnce, AllowAlways, DenyOnce, DenyAlways} {
		synctest.Test(t, func(t *testing.T) {
			s, j, d := sessionWithPerson(t, always(promptRule), Options{})
			s.Do(t.Context(), j.call("edit 1"))
			q := d.open()[0]
			q.answer(reply{Answer: Answer{Reply: r, Digest: q.Digest, Bound: named("")}})
			synctest.Wait()
			if got := ask(t, s, j, "edit 2"); got != "asked" {
				t.Errorf("%s: %s", r, got)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s, j, d := sessionWithPerson(t, always(promptRule), Options{})
		reach(t, s, j, d, "edit 1", named(""))
		x := j.call("a text")
		x.Calls[0].Subject = policy.SamplingSubject
		s.Do(t.Context(), x)
		if synctest.Wait(); len(j.ends[x]) != 0 {
			t.Errorf("what was not shown whole became %v", j.ends[x])
		}
		s.Withdraw(x)
	})
}

// A bound that falls refuses the call, and of many the oldest go.
func TestWideGrantsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		s := session(t, j, always(promptRule))
		for i := range maxWide + 5 {
			q := &question{x: j.call("x"), now: promptRule, under: s.policy.Load()}
			s.rememberAllow(q, named(fmt.Sprint(i, "!")))
		}
		if all := s.Grants(); len(all) != maxWide || all[0].Reach != "calls like 5!" {
			t.Errorf("%d are kept, the first %q", len(all), all[0].Reach)
		}
		s.rememberAllow(&question{x: j.call("x"), now: promptRule, under: s.policy.Load()}, falls{})
		if got := ask(t, s, j, "x"); got != CodePanic {
			t.Errorf("a bound that falls: %s", got)
		}
	})
}

type falls struct{}

func (falls) Covers([]policy.Call) bool { panic("it fell") }
func (falls) Title() string             { return "it falls" }

// A wide grant stands where the other processes of the session see it, and no longer than there.
func TestAWideGrantEndsWithTheAgentsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &book{}
		ledger := b.of("1")
		s, j, d := sessionWithPerson(t, always(promptRule), Options{Granted: ledger, DenyMemory: -1})
		reach(t, s, j, d, "edit 1", named("edit"))
		if got := ask(t, s, j, "edit 2"); got != "forward" || len(b.all) != 1 {
			t.Fatalf("it is not there: %s, %v", got, b.all)
		}
		ended := b.all[0]
		ended.Back = true
		b.all = append(b.all, ended)
		if got := ask(t, s, j, "edit 3"); got == "forward" || len(s.Grants()) != 0 {
			t.Errorf("after its end: %s, %d", got, len(s.Grants()))
		}
		reach(t, s, j, d, "edit 4", named("edit"))
		if got := ask(t, s, j, "edit 5"); got != "forward" {
			t.Errorf("given anew: %s", got)
		}
		s.Revoke(s.Grants()[0].ID)
		if n := len(b.all); !b.all[n-1].Back || b.all[n-1].ID != b.all[n-2].ID {
			t.Errorf("taken back: %v", b.all)
		}
		ledger.err = errors.New("cut")
		reach(t, s, j, d, "edit 6", named("edit"))
		if got := ask(t, s, j, "edit 7"); got == "forward" {
			t.Error("it could not be written, and holds")
		}
	})
}

// screenedBound covers calls that were looked into, and carry nothing.
type screenedBound struct{ named }

func (screenedBound) Covers(cs []policy.Call) bool { return cs[0].Screened && len(cs[0].Finds) == 0 }

// A person, and a grant, are asked about the very calls that the rules were asked about:
// with what was found in them.
func TestWhatIsAskedIsWhatWasJudged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		found := &inspects{Policy: always(promptRule)}
		s, j, d := sessionWithPerson(t, found, Options{Inspector: found})
		reach(t, s, j, d, "clean", screenedBound{})
		if c := d.open()[0].Calls[0]; !c.Screened || c.Finds != nil {
			t.Errorf("asked about %+v", c)
		}
		if got := ask(t, s, j, "another"); got != "forward" {
			t.Errorf("covered: %s", got)
		}
		found.carries = []Found{{Kind: "secret", At: "/a", N: 1}}
		if got := ask(t, s, j, "keyed"); got != "asked" {
			t.Errorf("not covered: %s", got)
		}
		all := d.open()
		if c := all[len(all)-1].Calls[0]; !c.Screened || !slices.Equal(c.Finds, []string{"secret"}) {
			t.Errorf("asked about %+v", c)
		}
	})
}
