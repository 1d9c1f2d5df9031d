package prove_test

import (
	"testing"

	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/policy"
)

// TestConstraints: a rule with a typed constraint or a time is shown by an
// example of it, and covers only what has the same.
func TestConstraints(t *testing.T) {
	for _, c := range []struct{ constraint, other string }{
		{`where.x = { regex = '^(ab+|c)[0-9]{2}\.txt$' }`, `where.x = { regex = "b" }`},
		{`where.x = { one_of = ["red", "blue"] }`, `where.x = { one_of = ["green"] }`},
		{`where.x = { min = 3, max = 9 }`, `where.x = { max = 1 }`},
		{`where.x = { max_length = 4 }`, `where.x = { max_length = 3 }`},
		{`where.x = { type = "boolean" }`, `where.x = { type = "number" }`},
		{`where.x = { host = ["*.example.com"] }`, `where.x = { host = ["example.org"] }`},
		{`where.x = { scheme = ["https"] }`, `where.x = { scheme = ["http"] }`},
		{`where.x = { public = true }`, `where.x = { public = false }`},
		{`where.x = { sql = "read-only" }`, `where.x = { max_length = 3 }`},
		{`where.x = { command = ["git status", "ls *"] }`, `where.x = { command = ["pwd"] }`},
		{`where.x = { present = true }`, `where.x = { max_length = 3 }`},
		{`where.x = { present = false }`, `where.x = { max_length = 3 }`},
		{`where.x = { type = "null" }`, `where.x = { max_length = 3 }`},
		{`when = { after = 2031-05-01T00:00:00Z }`, `when = { before = 2020-05-01T00:00:00Z }`},
	} {
		t.Run(c.constraint, func(t *testing.T) {
			rule := func(with string) string { return "[[rule]]\naction = \"allow\"\ntool = \"a\"\n" + with + "\n" }
			p := parse(t, rule(c.other)+rule(c.constraint)+rule(""))
			fs := prove.Reach(p, prove.Options{})
			for i, f := range fs {
				if f.Status != prove.Reached {
					t.Errorf("rule %d: %+v", i, f)
				}
			}
			if w := fs[1].Witness; w != nil && !fs[1].Perhaps {
				if d := p.Decide(w); d.Action != policy.Allow || d.Rule.Index != 1 {
					t.Errorf("%s at %v: %+v", w.Args, w.At, d)
				}
			} else {
				t.Errorf("no call surely meets it: %+v", fs[1])
			}
			twice := prove.Reach(parse(t, rule(c.constraint)+rule(c.constraint)), prove.Options{})
			if twice[1].Status != prove.Covered {
				t.Errorf("the same again: %+v", twice[1])
			}
			if same := prove.Difference(p, parse(t, rule(c.other)+rule(c.constraint)+rule("")), prove.Options{}); len(same) > 0 {
				t.Errorf("differs from itself: %+v", same)
			}
			changed := prove.Difference(p, parse(t, rule(c.other)+rule("")), prove.Options{})
			for _, d := range changed {
				if !d.Undecided && d.Old.Action == d.New.Action {
					t.Errorf("an allow less and nothing changes, but: %+v", d)
				}
			}
			opened := prove.Difference(parse(t, rule(c.other)), parse(t, rule(c.other)+rule(c.constraint)), prove.Options{})
			found := false
			for _, d := range opened {
				found = found || !d.Undecided && d.New.Action == policy.Allow
			}
			if !found {
				t.Errorf("an allow more is not seen: %+v", opened)
			}
		})
	}
}
