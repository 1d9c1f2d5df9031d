package prove_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/policy"
)

const everyTool = "allow tool=*"

// TestReachOfFindings: of what calls carry each kind is a boolean of its own, and kinds that
// rules name one by one are those that another names together.
func TestReachOfFindings(t *testing.T) {
	kinds := parse(t, rules(everyTool)).KindsOn(policy.OnCall)
	all := make([]string, 0, len(kinds))
	for _, kind := range kinds {
		all = append(all, "deny tool=* find="+kind)
	}
	for _, c := range []struct {
		name  string
		rules []string
		want  string // of the last rule: its status, and who covers it or what is found in the witness
	}{
		{"another kind", []string{"deny tool=* find=secret", "deny tool=* find=card"}, "reached [card]"},
		{"the same", []string{"deny tool=* find=secret", "prompt tool=* find=secret"}, "covered [0]"},
		{"one of them left", []string{"deny tool=* find=secret", "prompt tool=* find=secret,card"}, "reached [card]"},
		{"both taken, by one each", []string{"deny tool=* find=secret", "deny tool=* find=card", "prompt tool=* find=secret,card"}, "covered [0 1]"},
		{"of another tool", []string{"deny tool=post find=secret", "prompt tool=read find=secret"}, "reached [secret]"},
		{"whatever is found", []string{"deny tool=* find=*", "prompt tool=* find=card"}, "covered [0]"},
		{"all kinds, one by one", append(slices.Clone(all), "prompt tool=* find=*"), "covered"},
		{"all but one", append(slices.Clone(all[1:]), "prompt tool=* find=*"), "reached [" + kinds[0] + "]"},
		{"nothing is found", []string{"deny tool=* find=*", everyTool}, "reached []"},
		{"what is found or not", []string{"deny tool=*", "deny tool=* find=secret"}, "covered [0]"},
	} {
		p := parse(t, rules(c.rules...))
		found := prove.Reach(p, prove.Options{})
		last := found[len(found)-1]
		got := ""
		switch last.Status {
		case prove.Covered:
			if got = "covered"; c.want != got {
				got += fmt.Sprint(" ", last.By)
			}
		case prove.Reached:
			got = fmt.Sprint("reached ", last.Witness.Finds)
			if !last.Witness.Screened || last.Perhaps {
				t.Errorf("%s: nobody has looked in %+v", c.name, last.Witness)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q: %s", c.name, got, c.want, last.Reason)
		}
	}
}

// TestDifferenceOfFindings: also of calls in which nothing could look.
func TestDifferenceOfFindings(t *testing.T) {
	for _, c := range []struct {
		name       string
		old, after []string
		want       []string // answers, and what is found in the witness
	}{
		{"kinds together or apart", []string{"deny tool=* find=secret,card", everyTool}, []string{"deny tool=* find=card", "deny tool=* find=secret", everyTool}, nil},
		{"in another order", []string{"deny tool=* find=card,secret", everyTool}, []string{"deny tool=* find=secret,card", everyTool}, nil},
		{"a kind goes", []string{"deny tool=* find=secret,card", everyTool}, []string{"deny tool=* find=secret", everyTool}, []string{"deny allow [card]"}},
		{"a rule comes", []string{everyTool}, []string{"deny tool=* find=marker", everyTool}, []string{"allow deny [marker]"}},
		{"it closes what was closed", []string{"allow tool=read"}, []string{"deny tool=post find=secret", "allow tool=read"}, nil},
		{"and what was asked", []string{"prompt tool=*"}, []string{"deny tool=post find=*", "prompt tool=*"}, []string{"prompt deny [" + policy.FindingKinds()[0] + "]"}},
		{"two at once", []string{"prompt tool=* find=secret", "deny tool=* find=card", everyTool}, []string{"deny tool=* find=card", "prompt tool=* find=secret", everyTool}, []string{"prompt deny [card secret]"}},
		{"a rule for calls in which nothing could look", []string{"prompt tool=* find=secret", "deny tool=* find=secret", everyTool}, []string{"prompt tool=* find=secret", everyTool}, []string{"deny prompt not looked"}},
		{"beside conditions that are no sets", []string{"deny tool=x annotations=destructive", "prompt tool=* find=secret", "deny tool=* find=secret", everyTool},
			[]string{"deny tool=x annotations=destructive", "prompt tool=* find=secret", everyTool}, []string{"deny prompt not looked"}},
	} {
		before, after := parse(t, rules(c.old...)), parse(t, rules(c.after...))
		var got []string
		for _, d := range prove.Difference(before, after, prove.Options{}) {
			if d.Undecided {
				got = append(got, d.Reason)
				continue
			}
			shown := "not looked"
			if d.Witness.Screened {
				shown = fmt.Sprint(d.Witness.Finds)
			}
			got = append(got, word(before.Decide(d.Witness))+" "+word(after.Decide(d.Witness))+" "+shown)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// pack is one that a policy names, of which only the kind matters.
type pack string

func (p pack) Kind() string { return "pack:" + string(p) }
func (p pack) Text() []byte { return []byte(p) }

// TestProofsOfPacks: what a policy's own packs find are kinds as all others.
func TestProofsOfPacks(t *testing.T) {
	packed := func(lines ...string) *policy.Policy {
		p, err := policy.Parse("policy.toml", []byte(`packs = ["tickets", "names"]`+"\n"+rules(lines...)), policy.Options{Home: "/home/u", Pack: func(f policy.PackFile) (policy.Pack, error) { return pack(f.File), nil }})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	all := make([]string, 0, len(parse(t, rules(everyTool)).KindsOn(policy.OnCall)))
	for _, kind := range parse(t, rules(everyTool)).KindsOn(policy.OnCall) {
		all = append(all, "deny tool=* find="+kind)
	}
	for _, c := range []struct {
		rules []string
		want  string
	}{
		{[]string{"deny tool=* find=pack:tickets", everyTool}, "reached []"},
		{[]string{"deny tool=* find=card", "prompt tool=* find=card,pack:tickets"}, "reached [pack:tickets]"},
		{[]string{"deny tool=* find=pack:names", "prompt tool=* find=pack:tickets"}, "reached [pack:tickets]"},
		{[]string{"deny tool=* find=pack:names,pack:tickets", "prompt tool=* find=pack:tickets"}, "covered []"},
		{append(slices.Clone(all), "prompt tool=* find=*"), "reached [pack:tickets]"},
		{append(slices.Clone(all), "deny tool=* find=pack:tickets", "deny tool=* find=pack:names", "prompt tool=* find=*"), "covered []"},
	} {
		found := prove.Reach(packed(c.rules...), prove.Options{})
		last, got := found[len(found)-1], ""
		switch last.Status {
		case prove.Covered:
			got = "covered []"
		case prove.Reached:
			got = fmt.Sprint("reached ", last.Witness.Finds)
		}
		if got != c.want {
			t.Errorf("%q: %q, want %q: %s", c.rules, got, c.want, last.Reason)
		}
	}
	for _, c := range [][2][]string{
		{{"deny tool=* find=pack:tickets", everyTool}, {everyTool}},
		{{"deny tool=* find=card,pack:tickets", everyTool}, {"deny tool=* find=card", everyTool}},
		{append(slices.Clone(all), everyTool), {"deny tool=* find=*", everyTool}},
	} {
		before, after := packed(c[0]...), packed(c[1]...)
		all := prove.Difference(before, after, prove.Options{})
		if len(all) == 0 {
			t.Errorf("%q and %q are no different", c[0], c[1])
		}
		for _, d := range all {
			if !d.Undecided && word(before.Decide(d.Witness)) == word(after.Decide(d.Witness)) {
				t.Errorf("%v: of %q and %q", d.Witness.Finds, c[0], c[1])
			}
		}
	}
}
