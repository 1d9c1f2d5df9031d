package prove

import (
	"testing"

	"github.com/clawai/clawai/policy"
)

// Globs of which more than slashes and capitals makes readings are not settled by asking about
// everything: to say so would hide what is not decided.
func TestExhaustKnowsItsBounds(t *testing.T) {
	for glob, able := range map[string]bool{"a/**": true, "?b*": true, "a.b": false, "~/a": false, "A": true, "**/B": true, "a.B": false, "a%b": false, "É": false, `a\b`: false} {
		p, err := policy.Parse("p.toml", []byte("[[rule]]\naction = \"deny\"\ntool = \"t\"\nargs.p = '"+glob+"'\n"), policy.Options{Home: "/home/u"})
		if err != nil {
			t.Fatal(err)
		}
		pr := newProver(Options{})
		rules := pr.readRules(p)
		d := difference{prover: pr, before: p, after: p, subject: policy.ToolSubject, old: newBook(rulesOf(policy.ToolSubject, rules), false), new: newBook(nil, false), places: map[[2]answerID]int{}}
		if got := d.exhaustCases(); got != able {
			t.Errorf("%s: settled %v, want %v", glob, got, able)
		}
	}
}
