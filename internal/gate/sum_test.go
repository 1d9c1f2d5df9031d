package gate

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clawai/clawai/policy"
)

// pay hands a call with an amount to the gate.
func pay(s *Session, j *journal, amount string) (string, Verdict) {
	x := j.call("pay")
	x.Calls[0].Args = []byte(`{"amount":` + amount + `}`)
	s.Do(context.Background(), x)
	synctest.Wait()
	return j.became(x), j.verdicts[x]
}

func TestASumDeniesWhatIsBeyond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		s := session(t, j, ruleText(t, limited("allow", `{ rate = "100/day", sum = "args.amount" }`)))
		for _, step := range []struct {
			amount, want, reason string
		}{
			{"60", "forward", ""},
			{"40.01", CodeLimit, "at most 100 of args.amount a day; try again in 24 h"},
			{`"39.99"`, "forward", ""},
			{"0.02", CodeLimit, "at most 100 of args.amount a day; try again in 23 h"},
			{"0.01", "forward", ""}, {"0", "forward", ""},
			{"40", CodeLimit, "at most 100 of args.amount a day; try again in 21 h"},
			{"60.01", CodeLimit, "at most 100 of args.amount a day; try again in 22 h"},
			{"100.000001", CodeLimit, "at most 100 of args.amount a day; this call alone is more"},
			{"-1", CodeLimit, "at most 100 of args.amount a day; args.amount is not a plain decimal number from 0 up, such as 12.50"},
		} {
			got, v := pay(s, j, step.amount)
			if got != step.want || step.reason != "" && (v.Reason != step.reason || v.Stage != StageRate) {
				t.Errorf("%s became %s: %s", step.amount, got, v.Reason)
			}
			time.Sleep(30 * time.Minute)
		}
		time.Sleep(19 * time.Hour) // the first 60 no longer count
		if got, _ := pay(s, j, "60.01"); got != CodeLimit {
			t.Errorf("more than there is room for: %s", got)
		}
		if got, _ := pay(s, j, "60"); got != "forward" {
			t.Errorf("after a day: %s", got)
		}
	})
}

func TestOverASumAPersonCanBeAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		s := session(t, j, ruleText(t, limited("allow", `{ rate = "5/day", sum = "args.amount", over = "prompt" }`)))
		for amount, policyWord := range map[string]policy.Action{"6": policy.Prompt, "-6": policy.Allow, "[]": policy.Allow} {
			got, v := pay(s, j, amount)
			if got == "forward" || v.Policy != policyWord {
				t.Errorf("%s became %s: %+v", amount, got, v)
			}
		}
	})
}

// A sum is exact through what is given back, is bounded in calls, and of several
// charges all or none are counted.
func TestAMeterOfSums(t *testing.T) {
	rule := &policy.Rule{Rate: policy.Rate{Sum: "args.a", Max: 1000, Every: time.Hour, Key: "k"}}
	calls := []policy.Call{{Names: []string{"t"}}, {Names: []string{"t"}}}
	now := time.Now()
	charge := func(m *Meter, before Receipt, amounts ...int64) (Receipt, Excess) {
		var cs []policy.Charge
		for i, a := range amounts {
			cs = append(cs, policy.Charge{Rule: rule, Call: i, Amount: a})
		}
		return m.Charge(now, before, cs, calls)
	}
	m := &Meter{}
	first, _ := charge(m, nil, 600)
	for _, amounts := range [][]int64{{400, 1}, {400, policy.NoAmount}, {1001}, {401}} {
		if r, over := charge(m, nil, amounts...); r != nil || over.Rule == nil {
			t.Errorf("%v is counted: %+v", amounts, over)
		}
	}
	second, over := charge(m, nil, 400)
	if over.Rule != nil {
		t.Fatalf("what was over is still counted: %+v", over)
	}
	first.GiveBack()
	if second, over = charge(m, second, 1000); over.Rule != nil {
		t.Fatalf("what is charged again counts twice: %+v", over)
	}
	second.GiveBack()
	for i := range maxSummed {
		if _, over := charge(m, nil, 0); over.Rule != nil {
			t.Fatal(i, over)
		}
	}
	if _, over := charge(m, nil, 0); over.Rule == nil || over.Wait != time.Hour {
		t.Errorf("more calls than a sum remembers: %+v", over)
	}

	// Of several limits the one without an end is told.
	small := &policy.Rule{Rate: policy.Rate{Sum: "args.a", Max: 1, Every: time.Hour, Key: "small"}}
	for _, order := range [][]*policy.Rule{{rule, small}, {small, rule}} {
		_, over := m.Charge(now, nil, []policy.Charge{{Rule: order[0], Amount: 2}, {Rule: order[1], Amount: 2}}, calls)
		if over.Rule != small || over.Wait != 0 {
			t.Errorf("%s", fmt.Sprint(over))
		}
	}
}
