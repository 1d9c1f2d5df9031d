package prove_test

import (
	"testing"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/prove"
)

// TestDifferenceInOtherSpellings: a rule that is taken away is missed although what
// is left knows the same place by another spelling only.
func TestDifferenceInOtherSpellings(t *testing.T) {
	rule := func(action, glob string) string {
		return "[[rule]]\naction = \"" + action + "\"\ntool = \"a\"\nargs.p = '" + glob + "'\n"
	}
	for _, c := range []struct{ denied, allowed string }{
		{"/etc/**", "file:///**"},
		{"/A/B", "file:///**"},
		{"/home/u/.ssh/**", "~/**"},
		{"/home/u/.ssh/**", "~?**"},
		{"/srv/x", "/srv/%78"},
		{`C:/U/x`, `C:\U\*`},
	} {
		before := parse(t, rule("deny", c.denied)+rule("allow", c.allowed))
		found := false
		for _, d := range prove.Difference(before, parse(t, rule("allow", c.allowed)), prove.Options{}) {
			found = found || !d.Undecided && d.Old.Action == policy.Deny && d.New.Action == policy.Allow
		}
		if !found {
			t.Errorf("without the deny of %s nothing changes for the allow of %s", c.denied, c.allowed)
		}
	}
}

// TestDifferenceOnAnotherServer: a rule that no proof can use, about the server that
// calls are tried on, does not hide one.
func TestDifferenceOnAnotherServer(t *testing.T) {
	const above = "[[rule]]\naction = \"deny\"\ntool = \"*\"\nserver = \"x\"\nwhere.p.sql = \"read-only\"\n"
	const denied = "[[rule]]\naction = \"deny\"\ntool = \"a\"\nargs.p = \"./a\"\n"
	const allowed = "[[rule]]\naction = \"allow\"\ntool = \"*\"\nargs.p = \"a*\"\n"
	for _, d := range prove.Difference(parse(t, above+denied+allowed), parse(t, above+allowed), prove.Options{}) {
		if !d.Undecided && d.New.Action == policy.Allow {
			return
		}
	}
	t.Error("without the deny nothing changes")
}

// TestNoTextIsNeeded: what is about an argument as a whole is met by one that holds
// no text, which no glob matches.
func TestNoTextIsNeeded(t *testing.T) {
	for _, constraint := range []string{`type = "array"`, `type = "object"`, `present = true`} {
		p := parse(t, "[[rule]]\naction = \"allow\"\ntool = \"a\"\nargs.p = \"**\"\n[[rule]]\naction = \"prompt\"\ntool = \"a\"\nwhere.p."+constraint+"\n")
		if f := prove.Reach(p, prove.Options{})[1]; f.Status != prove.Reached || p.Decide(f.Witness).Action != policy.Prompt {
			t.Errorf("%s: %+v", constraint, f)
		}
	}
}
