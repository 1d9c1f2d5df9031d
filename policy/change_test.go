package policy

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
)

func TestChangeTo(t *testing.T) {
	rule := func(action, rest string) string { return "[[rule]]\naction = \"" + action + "\"\n" + rest + "\n" }
	var (
		denyA  = rule("deny", `tool = "a"`)
		denyB  = rule("deny", `tool = "b"`)
		allowA = rule("allow", `tool = "a*"`)
		allowB = rule("allow", `tool = "b*"`)
		askC   = rule("prompt", `tool = "c"`)
		few    = rule("allow", "tool = \"d\"\nlimit = \"2/min\"")
		all    = "[[limit]]\nrate = \"9/min\"\n"
		narrow = rule("allow", "tool = \"run\"\nargs.path = \"/p/**\"")
		wide   = rule("allow", `tool = "run"`)
		named  = rule("allow", "tool = \"run\"\nargs.path = \"${a}/**\"")
		said   = rule("deny", "tool = \"a\"\ndescription = \"No\"")
	)
	for _, tt := range []struct {
		name     string
		old, now []string
		want     Change
	}{
		{"nothing", []string{denyA, allowA}, []string{denyA, allowA}, Change{}},
		{"a description", []string{denyA, allowA}, []string{said, allowA}, Change{}},
		{"a deny comes in above", []string{allowA}, []string{denyA, allowA}, Change{}},
		{"a deny comes in below", []string{allowA}, []string{allowA, denyB}, Change{}},
		{"an allow goes", []string{allowA, denyB, allowB}, []string{denyB, allowB}, Change{}},
		{"the last allow goes", []string{denyB, allowB}, []string{denyB}, Change{}},
		{"a deny takes an allow's place", []string{allowA, allowB}, []string{denyA, allowB}, Change{}},
		{"a folder comes in", []string{"[folders]\na = ['/x']\n", named}, []string{"[folders]\na = ['/x', '/y']\n", named}, Change{Loosens: true}},
		{"a folder that no rule names", []string{"[folders]\na = ['/x']\n", denyA}, []string{"[folders]\na = ['/x', '/y']\n", denyA}, Change{}},
		{"everything goes", []string{denyA, allowB, askC}, nil, Change{Loosens: true, Lost: 2}},
		{"from nothing", nil, []string{denyA}, Change{}},
		{"an allow comes in", []string{denyA}, []string{denyA, allowB}, Change{Loosens: true}},
		{"an allow from nothing", nil, []string{allowB}, Change{Loosens: true}},
		{"a question comes in", []string{denyA, allowA}, []string{askC, denyA, allowA}, Change{Loosens: true}},
		{"a deny goes", []string{denyA, allowA}, []string{allowA}, Change{Loosens: true, Lost: 1}},
		{"one of two that say the same goes", []string{denyA, allowA, denyA}, []string{allowA, denyA}, Change{Loosens: true, Lost: 1}},
		{"a deny moves down", []string{denyA, allowA}, []string{allowA, denyA}, Change{Loosens: true}},
		{"a deny moves up", []string{allowA, denyA}, []string{denyA, allowA}, Change{Loosens: true}}, // not seen
		{"a question goes", []string{askC, allowA}, []string{allowA}, Change{Loosens: true, Lost: 1}},
		{"a limit goes", []string{few}, []string{rule("allow", `tool = "d"`)}, Change{Loosens: true, Lost: 1}},
		{"a limit over all tools goes", []string{allowA, all}, []string{allowA}, Change{Loosens: true, Lost: 1}},
		{"it is another one", []string{allowA, all}, []string{allowA, strings.Replace(all, "9", "8", 1)}, Change{Loosens: true, Lost: 1}},
		{"it comes, or says why", []string{allowA, all}, []string{allowA, all + "description = \"Why\"", all + "tool = \"a\""}, Change{}},
		{"a condition goes", []string{narrow}, []string{wide}, Change{Loosens: true}},
		{"a condition comes", []string{wide}, []string{narrow}, Change{Loosens: true}}, // not seen
	} {
		old, now := change(t, tt.old), change(t, tt.now)
		if got := old.ChangeTo(now); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func change(t *testing.T, rules []string) *Policy {
	t.Helper()
	p, err := Parse("policy.toml", []byte(strings.Join(rules, "\n")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What is said to tighten gives no call a wider answer.
func TestWhatTightensOpensNothing(t *testing.T) {
	slow.Test(t)
	var all []string
	for _, action := range []string{"allow", "deny", "prompt"} {
		for _, tool := range []string{"a", "b", "*"} {
			all = append(all, "[[rule]]\naction = \""+action+"\"\ntool = \""+tool+"\"\n",
				"[[rule]]\naction = \""+action+"\"\ntool = \""+tool+"\"\nargs.x = [\"1\", \"2\"]\n")
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	calls := []*Call{toolCall("a", `{}`), toolCall("b", `{"x":"1"}`), toolCall("a", `{"x":["1","3"]}`), toolCall("c", `{"x":"2"}`)}
	tightened, edits := 0, slow.Rounds(6000, 100_000)
	for range edits {
		var old, now []string
		for range r.IntN(5) {
			old = append(old, all[r.IntN(len(all))])
		}
		now = append(now, old...)
		for range 1 + r.IntN(2) {
			if at := r.IntN(len(now) + 1); r.IntN(2) == 0 {
				now = append(now[:at:at], append([]string{all[r.IntN(len(all))]}, now[at:]...)...)
			} else if at < len(now) {
				now = append(now[:at:at], now[at+1:]...)
			}
		}
		before, after := change(t, old), change(t, now)
		if before.ChangeTo(after).Loosens {
			continue
		}
		tightened++
		for _, c := range calls {
			was, is := before.Decide(c), after.Decide(c)
			if is.Action > was.Action {
				t.Fatalf("%s %s: %v became %v\n%s\n--- became ---\n%s", c.Names, c.Args, was.Action, is.Action, strings.Join(old, ""), strings.Join(now, ""))
			}
		}
	}
	if tightened < edits/20 {
		t.Errorf("only %d edits were said to tighten", tightened)
	}
}
