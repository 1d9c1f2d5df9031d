package prove_test

import (
	"testing"

	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/policy"
)

// TestAnnotations: a prompt that a server's word brings about leaves what is below it to
// be asked, so it covers nothing, not even a rule with the same annotations.
func TestAnnotations(t *testing.T) {
	const (
		asks   = "prompt tool=* annotations=destructive"
		denies = "deny tool=* annotations=destructive"
		opens  = "allow tool=*"
	)
	p := parse(t, rules(asks, denies, opens))
	for i, f := range prove.Reach(p, prove.Options{}) {
		if f.Status != prove.Reached || f.Witness == nil {
			t.Errorf("rule %d: %+v", i, f)
		}
	}
	for _, c := range []struct {
		name     string
		old, new string
		want     string // of one of the classes
	}{
		{"a deny goes", rules(asks, denies, opens), rules(asks, opens), "deny prompt"},
		{"a deny comes", rules(opens), rules(denies, opens), "allow deny"},
		{"a question comes", rules(opens), rules(asks, opens), "allow prompt"},
		{"other annotations", rules(denies, opens), rules("deny tool=* annotations=open-world", opens), "allow deny"},
		{"the same", rules(asks, denies, opens), rules(asks, denies, opens), ""},
	} {
		before, after := parse(t, c.old), parse(t, c.new)
		got := map[string]bool{}
		for _, d := range prove.Difference(before, after, prove.Options{}) {
			if d.Undecided {
				got["undecided"] = true
				continue
			}
			got[word(before.Decide(d.Witness))+" "+word(after.Decide(d.Witness))] = true
		}
		if c.want == "" && len(got) > 0 || c.want != "" && !got[c.want] && !got["undecided"] {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
		t.Log(c.name, got)
	}
	below := parse(t, rules(denies, opens))
	f := prove.Reach(below, prove.Options{})[1]
	if f.Witness == nil || below.Decide(f.Witness).Action != policy.Allow {
		t.Errorf("%+v", f)
	}
}
