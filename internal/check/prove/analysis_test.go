package prove_test

import (
	"slices"
	"testing"

	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/policy"
)

func TestBoth(t *testing.T) {
	p := parse(t, rules("deny tool=* args.path=**/.env", "allow tool=read_* args.path=/home/**", "deny tool=* args.path=**/.ssh/**", "deny tool=write_*", "allow prompt=*"))
	a := prove.New(p, prove.Options{})
	c := a.FindCommonCall(1, 2)
	if c == nil {
		t.Fatal("no call meets the allow and the deny below it")
	}
	if d := p.Decide(c); d.Action != policy.Allow || d.Rule.Index != 1 {
		t.Errorf("%v %s: %+v", c.Names, c.Args, d)
	}
	for _, pair := range [][2]int{{1, 3}, {1, 4}} {
		if c := a.FindCommonCall(pair[0], pair[1]); c != nil {
			t.Errorf("%v: %v %s", pair, c.Names, c.Args)
		}
	}
}

func TestWithin(t *testing.T) {
	a := prove.New(parse(t, rules("allow tool=read_* args.path=/home/u/*", "deny tool=* args.path=/home/**", "deny tool=*", "allow prompt=*")), prove.Options{})
	if !a.AreApart(0, 3) || a.AreApart(0, 2) {
		t.Error("tools and prompts are apart, read_* and * are not")
	}
	for _, c := range []struct {
		inner, outer int
		want         bool
	}{{0, 1, true}, {1, 0, false}, {0, 2, true}, {2, 1, false}, {0, 3, false}} {
		if a.AreApart(c.inner, c.outer) && c.want {
			t.Errorf("rule %d is said to be apart from rule %d", c.inner, c.outer)
		}
		if got := a.IsCovered(c.inner, c.outer); got != c.want {
			t.Errorf("rule %d within rule %d: %v", c.inner, c.outer, got)
		}
	}
}

// TestLayers: what stands above two policies is not compared, and that is said.
func TestLayers(t *testing.T) {
	under := func(layer string) *policy.Policy {
		p, err := policy.Parse("p.toml", []byte(rules("allow tool=*")), policy.Options{Home: "/home/u",
			Above: []*policy.Policy{parseLayer(t, rules(layer), "organisation")}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if c := prove.Difference(under("deny tool=a"), under("deny tool=a"), prove.Options{}); len(c) != 0 {
		t.Errorf("same layers: %+v", c)
	}
	if c := prove.Difference(under("deny tool=a"), under("deny tool=b"), prove.Options{}); len(c) != 1 || !c[0].Undecided {
		t.Errorf("other layers: %+v", c)
	}
}

// When nobody waits any more, nothing counts as proved: each question is open. A call that shows a difference still counts.
func TestSearchEndsWithItsReader(t *testing.T) {
	done := make(chan struct{})
	close(done)
	rules := "[[rule]]\naction = \"deny\"\ntool = \"*\"\n[[rule]]\naction = \"allow\"\ntool = \"read\"\n"
	for _, f := range prove.Reach(parse(t, rules), prove.Options{Done: done}) {
		if f.Status != prove.Undecided || f.Reason == "" {
			t.Errorf("%+v", f)
		}
	}
	other := "[[rule]]\naction = \"allow\"\ntool = \"read\"\n[[rule]]\naction = \"deny\"\ntool = \"*\"\n"
	for _, classes := range [][]prove.CallClass{
		prove.Difference(parse(t, rules), parse(t, other), prove.Options{Done: done}),
		prove.Difference(parse(t, ""), parse(t, rules), prove.Options{Done: done}),
	} {
		if !slices.ContainsFunc(classes, func(c prove.CallClass) bool { return c.Undecided }) || slices.ContainsFunc(classes, func(c prove.CallClass) bool { return !c.Undecided && c.Witness == nil }) {
			t.Errorf("%+v", classes)
		}
	}
}
