package prove_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
)

// aboutReplies are rules about what comes back whose globs and kinds overlap.
func aboutReplies(r *rand.Rand) string {
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	var b strings.Builder
	for range 1 + r.IntN(4) {
		find := ""
		if r.IntN(3) > 0 {
			find = "find = " + one(`["secret"]`, `["hidden", "secret"]`, `["*"]`, `["card"]`) + "\n"
		}
		on, action := "reply", one("allow", "warn", "fence", "prompt", "deny")
		if r.IntN(4) == 0 {
			on, action = "list", one("allow", "prompt", "deny")
		}
		if find != "" && r.IntN(3) == 0 {
			action = "redact"
		}
		fmt.Fprintf(&b, "[[rule]]\naction = %q\non = %q\n%s", action, on, find)
		named := r.IntN(4) > 0 // a rule without a name is about resources, too
		if named {
			fmt.Fprintf(&b, "%s = %q\n", one("tool", "tool", "prompt"), one("*", "**", "a*", "a?", "b", "**b"))
		}
		if r.IntN(4) == 0 {
			fmt.Fprintf(&b, "server = %q\n", one("s", "s*"))
		}
		if named && r.IntN(6) == 0 {
			fmt.Fprintf(&b, "not.tool = %q\n", one("b", "a*"))
		}
	}
	return strings.ReplaceAll(b.String(), "prompt = \"**b\"\nnot.tool", "prompt = \"**b\"\nnot.prompt")
}

// What is listed is so, and where rules look at names, servers and kinds alone nothing
// else is: by every name up to a length, with every set of kinds.
func TestRepliesBruteForce(t *testing.T) {
	slow.Test(t)
	r := rand.New(rand.NewPCG(17, 4))
	var names []string
	var grow func(string)
	grow = func(s string) {
		if s != "" {
			names = append(names, s)
		}
		if len(s) < 3 {
			for _, c := range "abx/" {
				grow(s + string(c))
			}
		}
	}
	grow("")
	sets := [][]string{nil, {"secret"}, {"hidden"}, {"card"}, {"gap"}, {"secret", "card"}, {"hidden", "gap", "secret"}}
	same, other, pairs := 0, 0, min(maxPolicies(), 3000)
	for range pairs {
		text := aboutReplies(r)
		before, errs := policy.Parse("a.toml", []byte(text), policy.Options{})
		if errs != nil {
			continue
		}
		rules := strings.SplitAfter(text, "\n[[rule]]\n")
		switch i := r.IntN(len(rules)); r.IntN(4) {
		case 0:
			text = aboutReplies(r)
		case 1:
			text += "[[rule]]\n" + strings.TrimPrefix(strings.TrimSuffix(rules[i], "[[rule]]\n"), "[[rule]]\n")
		default:
			edit := [][2]string{{"**", "*"}, {"\"a*\"", "\"a?\""}, {"[\"*\"]", "[\"card\"]"}}[r.IntN(3)]
			text = strings.Replace(text, edit[0], edit[1], 1)
		}
		after, errs := policy.Parse("b.toml", []byte(text), policy.Options{})
		if errs != nil {
			continue
		}
		found, whole := prove.CompareReplies(before, after)
		for _, x := range found {
			if old, now := before.DecideReply(x.On, []policy.Call{x.Call}, x.Call.Finds), after.DecideReply(x.On, []policy.Call{x.Call}, x.Call.Finds); prove.DescribeOutcome(&old) == prove.DescribeOutcome(&now) {
				t.Errorf("%+v is listed and is the same", x)
			}
		}
		if !whole {
			t.Fatal("these rules look at nothing else")
		}
		if len(found) > 0 {
			other++
			continue
		}
		same++
		for on := policy.OnReply; on <= policy.OnList; on++ {
			for _, c := range every(on, names) {
				for _, kinds := range sets {
					old, now := before.DecideReply(on, []policy.Call{c}, kinds), after.DecideReply(on, []policy.Call{c}, kinds)
					if prove.DescribeOutcome(&old) != prove.DescribeOutcome(&now) {
						t.Fatalf("%s %+v with %v: %s, now %s", on, c, kinds, prove.DescribeOutcome(&old), prove.DescribeOutcome(&now))
					}
				}
			}
		}
	}
	if same < pairs/30 || other < pairs/5 {
		t.Errorf("%d pairs alike and %d not: too few to show anything", same, other)
	}
}

func every(on policy.On, names []string) (all []policy.Call) {
	for _, server := range []string{"", "s", "sx", "t"} {
		for _, name := range names {
			for _, s := range []policy.Subject{policy.ToolSubject, policy.PromptSubject, policy.ResourceSubject} {
				all = append(all, policy.Call{Subject: s, Names: []string{name}, Server: server})
			}
		}
		if on == policy.OnReply {
			all = append(all, policy.Call{Server: server})
		}
	}
	return all
}

// A rule that looks at more than that leaves the question open, and is shown by an example
// all the same.
func TestRepliesOfConditionsAreExamples(t *testing.T) {
	const shield = "[[rule]]\naction = \"allow\"\non = \"reply\"\ntool = \"read\"\nargs.path = \"/srv/*\"\nfind = [\"secret\"]\n"
	const rest = "[[rule]]\naction = \"redact\"\non = \"reply\"\ntool = \"**\"\nfind = [\"secret\"]\n"
	parse := func(text string) *policy.Policy { return parseLayer(t, text, "") }
	found, whole := prove.CompareReplies(parse(rest), parse(shield+rest))
	if whole || len(found) != 1 || prove.DescribeOutcome(&found[0].Old) != "redact secret" || prove.DescribeOutcome(&found[0].New) != "allow" {
		t.Errorf("%v, %+v", whole, found)
	}
	if found, whole := prove.CompareReplies(parse(shield+rest), parse("# moved\n"+shield+rest)); !whole || found != nil {
		t.Errorf("the same rules: %v, %+v", whole, found)
	}
	const uri = "[[rule]]\naction = \"fence\"\non = \"reply\"\nresource = \"memo/*\"\n"
	if _, whole := prove.CompareReplies(parse(uri+rest), parse(rest+uri)); whole {
		t.Error("a proof about the readings of a URI that nobody has")
	}
	if found, whole := prove.CompareReplies(parse(shield+rest), parse(strings.Replace(shield, "/srv/*", "/srv/?*", 1)+rest)); whole {
		t.Errorf("a proof that nobody has, and %+v", found)
	}
}
