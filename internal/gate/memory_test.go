package gate

import (
	"context"
	"slices"
	"testing"

	"github.com/clawai/clawai/policy"
)

// asks says how often a person is asked when the calls come one by one.
func asks(t *testing.T, p Policy, reply Reply, calls ...policy.Call) (n int) {
	t.Helper()
	j := newJournal()
	j.person = says(reply)
	s := session(t, j, p)
	for _, c := range calls {
		x := j.message("x")
		x.Calls = []policy.Call{c}
		s.Do(t.Context(), x)
		s.askers.Wait()
		j.expect(t, x, "forward")
	}
	for _, l := range j.lines {
		if l == "ask" {
			n++
		}
	}
	return n
}

func TestASessionAnswerHoldsForTheSameValueOnly(t *testing.T) {
	base := tool("a")
	other := func(change func(c *policy.Call)) policy.Call {
		c := base
		change(&c)
		return c
	}
	tests := []struct {
		name string
		then policy.Call
		want int
	}{
		{"same", base, 1},
		{"server", other(func(c *policy.Call) { c.Server = "other" }), 2},
		{"method", other(func(c *policy.Call) { c.Method = "other" }), 2},
		{"subject", other(func(c *policy.Call) { c.Subject = policy.PromptSubject }), 2},
		{"name", other(func(c *policy.Call) { c.Names = []string{"b"} }), 2},
		{"names run together", other(func(c *policy.Call) { c.Names = []string{"a", ""} }), 2},
		{"args", other(func(c *policy.Call) { c.Args = []byte(`{"a":2}`) }), 2},
		{"args written otherwise", other(func(c *policy.Call) { c.Args = []byte(`{"a": 1}`) }), 2},
		{"something beside the arguments", other(func(c *policy.Call) { c.Extra = []byte(`{"cwd":"/"}`) }), 2},
		{"what is not shown", other(func(c *policy.Call) { c.Quiet = 7 }), 2},
		{"no args", other(func(c *policy.Call) { c.Args = nil }), 2},
	}
	for _, tt := range tests {
		if got := asks(t, always(promptRule), AllowSession, base, tt.then); got != tt.want {
			t.Errorf("%s: asked %d times, want %d", tt.name, got, tt.want)
		}
	}
	if got := asks(t, always(promptRule), AllowOnce, base, base); got != 2 {
		t.Error("a single answer held for the session")
	}
	if got := asks(t, always(promptRule), AllowAlways, base, base); got != 1 {
		t.Error("an always did not hold until its rule is loaded")
	}
}

func TestASessionAnswerHoldsForItsRuleOnly(t *testing.T) {
	second := rule(policy.Prompt, 2, "ask me") // looks the same, is another
	n := 0
	p := rules(func([]policy.Call) policy.Decision {
		n++
		if n <= 3 { // judged on arrival, before it is asked about, after the answer
			return policy.Decision{Action: policy.Prompt, Rule: promptRule}
		}
		return policy.Decision{Action: policy.Prompt, Rule: second}
	})
	if got := asks(t, p, AllowSession, tool("a"), tool("a")); got != 2 {
		t.Errorf("asked %d times, want 2", got)
	}
}

// The rules change while the person thinks, so that the answer is about another
// rule and lifts this one call only.
func TestASessionAnswerIsAboutTheRuleThatWasShown(t *testing.T) {
	j := newJournal()
	s := session(t, j, always(promptRule))
	second := rule(policy.Prompt, 12, "second")
	var shown []string
	j.person = func(ctx context.Context, q Question) (Answer, error) {
		shown = append(shown, q.Rule.Description)
		if len(shown) == 1 {
			s.SetPolicy(always(second))
		}
		return says(AllowSession)(ctx, q)
	}
	for range 3 {
		x := j.call("y")
		s.Do(t.Context(), x)
		s.askers.Wait()
		j.expect(t, x, "forward")
	}
	if want := []string{"ask me", "second"}; !slices.Equal(shown, want) {
		t.Errorf("shown %q, want %q", shown, want)
	}
}

// A sampling or elicitation request carries more than the person's question
// and the rules see; the next one may differ in that.
func TestASessionAnswerDoesNotHoldForWhatIsOnlyPartlyShown(t *testing.T) {
	for _, subject := range []policy.Subject{policy.NoSubject, policy.SamplingSubject, policy.ElicitationSubject, policy.MethodSubject} {
		c := tool("a")
		c.Subject = subject
		if got := asks(t, always(promptRule), AllowSession, c, c); got != 2 {
			t.Errorf("subject %d: asked %d times, want 2", subject, got)
		}
	}
}

func TestASessionAnswerNeverBeatsADenyAndEndsWithThePolicy(t *testing.T) {
	j := newJournal()
	j.person = says(AllowSession)
	s := session(t, j, always(promptRule))
	do := func(want string) *Exchange {
		t.Helper()
		x := j.call("x")
		s.Do(t.Context(), x)
		s.askers.Wait()
		j.expect(t, x, want)
		return x
	}
	do("forward")
	j.person = says(DenyOnce)
	x := do("forward") // lifted by the earlier answer
	if got := line(x.Event); got != "decision prompt allow ask allowed_in_session 2" {
		t.Errorf("recorded %q", got)
	}
	s.SetPolicy(always(denyRule))
	do(CodeDeniedByRule)
	s.SetPolicy(always(promptRule))
	do(CodeDeniedByPerson)

	denies := false
	s.SetPolicy(rules(func([]policy.Call) policy.Decision {
		if denies { // by the very rule that was answered
			return policy.Decision{Rule: promptRule}
		}
		return policy.Decision{Action: policy.Prompt, Rule: promptRule}
	}))
	j.person = says(AllowSession)
	do("forward")
	denies = true
	do(CodeDeniedByRule)
}
