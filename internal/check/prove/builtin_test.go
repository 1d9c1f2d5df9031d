package prove_test

import (
	"testing"

	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/policy"
)

func rule(action, tool, more string) string {
	return "[[rule]]\naction = \"" + action + "\"\ntool = \"" + tool + "\"\n" + more
}

// A call of a built-in tool has two names: what is proved of calls with one is not said
// of it.
func TestBuiltinTools(t *testing.T) {
	parsed := func(src string) *policy.Policy {
		p, err := policy.Parse("p", []byte(src), policy.Options{Home: "/home/u"})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	own, class := rule("allow", "Read", ""), rule("deny", "read", "")
	path := "args.path = \"/a/**\"\n"
	for _, c := range []struct {
		name, before, after string
		want                string
	}{
		{"the same", own + class, own + class, "equal"},
		{"in another order", own + class, class + own, "changed"},
		{"names of no tool of a client", rule("allow", "x", "") + rule("deny", "y", ""), rule("deny", "y", "") + rule("allow", "x", ""), "equal"},
		{"with a tool's own argument", rule("allow", "Read", path) + rule("deny", "Read", "args.file_path = \"**\"\n"), rule("deny", "Read", "args.file_path = \"**\"\n") + rule("allow", "Read", path), "undecided"},
		{"of servers", rule("allow", "read_*", path), rule("allow", "read_*", path) + rule("deny", "read_*", path), "equal"},
		{"with arguments", rule("allow", "Read", path) + rule("deny", "read", path), rule("deny", "read", path) + rule("allow", "Read", path), "undecided"},
	} {
		got := "equal"
		before, after := parsed(c.before), parsed(c.after)
		for _, k := range prove.Difference(before, after, prove.Options{}) {
			switch {
			case k.Reason == prove.ReasonBuiltin:
				got = "undecided"
			case k.Undecided:
				t.Errorf("%s: %s", c.name, k.Reason)
			default:
				got = "changed"
				if before.Decide(k.Witness).Action == after.Decide(k.Witness).Action {
					t.Errorf("%s: %+v shows nothing", c.name, k.Witness)
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	reach := prove.Reach(parsed(rule("allow", "*", "not.tool = \"read\"\n")+own), prove.Options{})
	if f := reach[1]; f.Status == prove.Covered {
		t.Errorf("%+v: Read comes to it, of which read is another name", f)
	}
}
