package prove_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
)

func withWhere(conditions ...string) string {
	var b strings.Builder
	for _, c := range conditions {
		action, where, _ := strings.Cut(c, " ")
		fmt.Fprintf(&b, "[[rule]]\naction = %q\ntool = \"run\"\nwhere.x = { %s }\n", action, where)
	}
	return b.String()
}

// TestReachOfExpressions: expressions are compared by what they match, and where
// one holds another, that is proved; else a text shows that it does not.
func TestReachOfExpressions(t *testing.T) {
	slow.Test(t)
	for _, c := range []struct {
		above, below string
		covered      bool
	}{
		{`allow regex = 'git [a-z]+'`, `deny regex = 'git (push|log)'`, true},
		{`allow regex = 'git (push|log)'`, `deny regex = 'git [a-z]+'`, false},
		{`allow regex = 'a|b'`, `deny regex = '^(b|a)$'`, true},
		{`allow regex = "[0-9]{1,3}"`, `deny regex = '\d\d?\d?'`, true},
		{`allow regex = '[a-z]+'`, `deny one_of = ["red", "blue"]`, true},
		{`allow regex = '[a-z]+'`, `deny one_of = ["red", "Blue"]`, false},
		{`allow regex = '[a-z]+'`, `deny one_of = ["red", 1]`, false},
		{`allow one_of = ["red", "blue"]`, `deny regex = 'red'`, false}, // "red" shows nothing: a server may take more for it
		{`allow regex = '\bred'`, `deny regex = 'red'`, false},
		{`allow regex = 'x+', max_length = 3`, `deny regex = 'x'`, false},
	} {
		p := parse(t, withWhere(c.above, c.below))
		a := prove.New(p, prove.Options{})
		if got := a.IsCovered(1, 0); got != c.covered {
			t.Errorf("%s takes all of %s: %v", c.above, c.below, got)
		}
		// Of a text with a break beside it neither is sure.
		if f := a.Reach()[1]; f.Status == prove.Covered || c.covered && !f.Perhaps {
			t.Errorf("%s above %s: %+v", c.above, c.below, f)
		}
	}
	f := prove.Reach(parse(t, withWhere(`allow regex = '(?s).*'`, `deny regex = 'a|b'`)), prove.Options{})[1]
	if f.Status != prove.Covered || f.AsWritten || !slices.Equal(f.By, []int{0}) {
		t.Errorf("everything leaves something over: %+v", f)
	}
}

// TestDifferenceOfExpressions: of a changed expression it is shown what it opens and
// what it closes, and nothing where it is the same in other words.
func TestDifferenceOfExpressions(t *testing.T) {
	for _, c := range []struct{ old, new, opens, closes string }{
		{`allow regex = 'ls|pwd'`, `allow regex = 'pwd|ls'`, "", ""},
		{`allow regex = '[a-z]+'`, `allow regex = '[a-z][a-z]*'`, "", ""},
		{`allow regex = '[a-z]+'`, `allow regex = '[a-z0-9]+'`, `{"x":"0"}`, ""},
		{`allow regex = 'v[0-9]+'`, `allow regex = 'v[0-9]'`, "", `{"x":"v00"}`},
		{`allow regex = 'red|blue'`, `allow regex = 'blue|green'`, `{"x":"green"}`, `{"x":"red"}`},
		{`allow regex = '[a-z]+'`, `allow regex = '[0-9]+'`, `{"x":"0"}`, `{"x":"x"}`},
	} {
		opens, closes := "", ""
		for _, d := range prove.Difference(parse(t, withWhere(c.old)), parse(t, withWhere(c.new)), prove.Options{}) {
			switch {
			case d.Undecided:
				t.Errorf("%s to %s: not decided: %s", c.old, c.new, d.Reason)
			case d.New.Action == policy.Allow:
				opens = string(d.Witness.Args)
			default:
				closes = string(d.Witness.Args)
			}
		}
		if opens != c.opens || closes != c.closes {
			t.Errorf("%s to %s: opens %s, closes %s", c.old, c.new, opens, closes)
		}
	}
}

// TestDifferenceMakesNoCallTwice: constraints give every text the same few calls, and
// work spent on asking about these again is missing where something would be found.
func TestDifferenceMakesNoCallTwice(t *testing.T) {
	before := parse(t, withWhere(`prompt regex = 'a'`, `allow type = "string"`))
	after := parse(t, withWhere(`prompt one_of = ["a", "b"]`, `allow one_of = ["1", 1]`,
		`allow regex = '[ab]+', max_length = 1`, `allow regex = '[ab]+', max_length = 1`))
	shown := false
	for _, c := range prove.Difference(before, after, prove.Options{Work: 1 << 18}) {
		if c.IsWhole() {
			t.Error(c.Reason)
		}
		shown = shown || !c.Undecided && c.Old.Action == policy.Allow && c.New.Action == policy.Prompt && string(c.Witness.Args) == `{"x":"b"}`
	}
	if !shown {
		t.Error(`{"x":"b"} goes from allow to prompt, and that is not listed`)
	}
}

// TestDifferenceOfDoubts: what a prompt or a deny only perhaps matches is answered by
// what stands below as well, and a change there shows, also where both policies have
// the same prompt.
func TestDifferenceOfDoubts(t *testing.T) {
	for _, c := range []struct{ above, below, witness string }{
		{`prompt one_of = ["1", 1]`, `allow regex = '(?s).*'`, `{"x":true}`},
		{`prompt one_of = ["a", 1]`, `allow present = true`, `{"x":"1"}`},
		{`prompt regex = 'a'`, `allow type = "string"`, `{"x":"a\n"}`},
		{`prompt min = 1`, `allow type = "string"`, `{"x":"1"}`},
		{`prompt regex = 'a'`, `deny regex = '(?s).*b'`, ``}, // and the answer is a denial without it
	} {
		witness := ""
		for _, d := range prove.Difference(parse(t, withWhere(c.above, c.below)), parse(t, withWhere(c.above)), prove.Options{}) {
			if d.Old.Action == policy.Prompt {
				witness = d.Reason
				if !d.Undecided {
					witness = string(d.Witness.Args)
				}
			}
		}
		if witness != c.witness {
			t.Errorf("%s above %s: %s", c.above, c.below, witness)
		}
	}
}

// TestExpressionsAgainstBruteForce: nothing that is proved of policies with
// expressions is contradicted by a call, those included whose texts hold JSON or
// have breaks around them.
func TestExpressionsAgainstBruteForce(t *testing.T) {
	slow.Test(t)
	slow.Checks(t, 20, 1000)
	var calls []*policy.Call
	several := map[*policy.Call]bool{}
	for i, x := range []any{
		"a\n", "\na", "[\"a\"]", "{\"b\":\"a\"}", []string{"a", "b"}, map[string]string{"a": "b"}, map[string]int{"a": 1},
		"", "a", "b", "ab", "ba", "aa", " a", 1, true, nil, "1", "abc", "[]",
	} {
		args, err := json.Marshal(map[string]any{"x": x})
		if err != nil {
			t.Fatal(err)
		}
		c := &policy.Call{Subject: policy.ToolSubject, Method: "tools/call", Server: "s", Names: []string{"run"}, Args: args}
		calls, several[c] = append(calls, c), i < 7
	}
	condition := rapid.SampledFrom([]string{
		`regex = 'a'`, `regex = 'a|b'`, `regex = '[ab]+'`, `regex = '(?s).*'`, `regex = '.+'`, `regex = '\[.*'`, `regex = '\d'`, `regex = '(?s)a.*'`, `regex = 'ab?'`, `regex = '[^b]*'`,
		`one_of = ["a", "b"]`, `one_of = ["ab"]`, `one_of = ["1", 1]`, `max_length = 1`, `type = "string"`, `regex = '[ab]+', max_length = 1`,
	})
	rule := rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"allow ", "deny ", "prompt "}).Draw(t, "action") + condition.Draw(t, "condition")
	})
	some := rapid.SliceOfN(rule, 1, 4)
	rapid.Check(t, func(rt *rapid.T) {
		before, after := withWhere(some.Draw(rt, "old")...), withWhere(some.Draw(rt, "new")...)
		p, q := parsePlain(rt, before), parsePlain(rt, after)
		findings := prove.Reach(p, prove.Options{Work: 1 << 18})
		listed := map[string]bool{}
		for _, c := range prove.Difference(p, q, prove.Options{Work: 1 << 18}) {
			if c.IsWhole() {
				rt.Errorf("so few rules are not compared to the end: %s\n%s---\n%s", c.Reason, before, after)
			}
			listed[c.Old.Action.String()+c.New.Action.String()] = true
			if !c.Undecided && (p.Decide(c.Witness).Action != c.Old.Action || q.Decide(c.Witness).Action != c.New.Action) {
				rt.Errorf("%s does not show %v to %v", c.Witness.Args, c.Old, c.New)
			}
		}
		for _, c := range calls {
			tr := p.Trace(c)
			for _, r := range tr.ReachedRules() {
				if f := &findings[r]; f.Status == prove.Covered && !f.AsWritten && !repeats(p, r) {
					rt.Errorf("%s comes to rule %d, which is called covered by %v:\n%s", c.Args, r, findings[r].By, before)
				}
			}
			// Of what has several readings the strictest answer of each policy holds, and
			// they need not be to the same one.
			x, y := p.Decide(c).Action, q.Decide(c).Action
			if x != y && !listed[x.String()+y.String()] && (!several[c] || len(listed) == 0) {
				rt.Errorf("%s goes from %s to %s, and that is not listed:\n%s---\n%s", c.Args, x, y, before, after)
			}
		}
	})
}

// repeats says that a rule has the conditions of one above.
func repeats(p *policy.Policy, i int) bool {
	all := p.Sources()
	same := func(a, b policy.WhereSource) bool { return a.Key == b.Key && a.Text == b.Text }
	return slices.ContainsFunc(all[:i], func(above policy.Source) bool {
		return slices.EqualFunc(above.Where, all[i].Where, same)
	})
}
