package prove_test

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/policy"
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

// TestDifferenceBesideOtherCases: a text is found although those at hand are taken by
// what is said of the same letters in another case.
func TestDifferenceBesideOtherCases(t *testing.T) {
	above := rules("deny tool=a args.p=/a/*", "allow tool=a args.p=A*", "prompt tool=a args.p=*a")
	for _, d := range prove.Difference(parse(t, above+rules("allow tool=a args.p=/A/**")), parse(t, above), prove.Options{}) {
		if d.Undecided && d.Reason != prove.ReasonFolder {
			t.Errorf("not decided: %s", d.Reason)
		}
	}
}

// TestReasons: where nothing is decided, the reason names what was not compared.
func TestReasons(t *testing.T) {
	where := func(more string) string {
		return "[[rule]]\naction = \"allow\"\ntool = \"a\"\nwhere.p = { max_length = 1" + more + " }\n"
	}
	old, now := where(", regex = 'a+'"), where(", regex = 'aa|a', type = \"string\"")
	undecided := 0
	for _, d := range prove.Difference(parse(t, old), parse(t, now), prove.Options{}) {
		if !d.Undecided {
			t.Errorf("%s", d.Witness.Args)
			continue
		}
		undecided++
		if !strings.HasSuffix(d.Reason, " were tried") || !strings.Contains(d.Reason, "where.p.max_length, where.p.regex") {
			t.Errorf("the reason is %q", d.Reason)
		}
	}
	if undecided == 0 {
		t.Error("all is decided")
	}
}

// TestDifferenceAboveTheWorkingDirectory: a path that climbs meets an argument with a
// closing slash, and the stricter answers to its two readings make a pair of their own.
func TestDifferenceAboveTheWorkingDirectory(t *testing.T) {
	const open = "args_open = true\n" // else the path shuts the one, and the slash the other
	below := rules("allow tool=* args.p=?,*") + open + rules("deny tool=* args.p=/ args.q=a", "prompt tool=** args.q=****")
	before, after := parse(t, rules("allow tool=** args.q=*/")+open+below), parse(t, below)
	for _, d := range prove.Difference(before, after, prove.Options{}) {
		if d.Old.Action == policy.Prompt && d.New.Action == policy.Deny {
			return
		}
	}
	c := policy.Call{Subject: policy.ToolSubject, Method: "tools/call", Server: "x", Names: []string{"a"}, Args: []byte(`{"p":"../a","q":"a//"}`)}
	t.Errorf("%s goes from %s to %s, and that is not listed", c.Args, before.Decide(&c).Action, after.Decide(&c).Action)
}
