package prove_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
)

// changed is a policy with one edit or two: what people do to policies. Now and
// then it is another one.
func (w *world) changed(r *rand.Rand, text string) string {
	if r.IntN(6) == 0 {
		return w.policy(r)
	}
	rules := strings.Split(text, "[[rule]]\n")[1:]
	for range 1 + r.IntN(2) {
		i := r.IntN(len(rules))
		switch r.IntN(4) {
		case 0:
			var b strings.Builder
			w.rule(r, &b)
			rules = append(rules[:i:i], append([]string{strings.TrimPrefix(b.String(), "[[rule]]\n")}, rules[i:]...)...)
		case 1:
			if len(rules) > 1 {
				rules = append(rules[:i:i], rules[i+1:]...)
			}
		case 2:
			j := r.IntN(len(rules))
			rules[i], rules[j] = rules[j], rules[i]
		case 3:
			_, rest, _ := strings.Cut(rules[i], "\n")
			rest = strings.Replace(rest, "args_open = true\n", "", 1)
			to := r.IntN(3)
			if to == 0 { // which can have none
				rest = regexp.MustCompile(`(?m)^find = .*\n`).ReplaceAllString(rest, "")
			}
			rules[i] = []string{"action = \"allow\"\n", "action = \"deny\"\n", "action = \"prompt\"\nask = \"out-of-band\"\n"}[to] +
				strings.TrimPrefix(rest, "ask = \"out-of-band\"\n")
		}
	}
	return "[[rule]]\n" + strings.Join(rules, "[[rule]]\n")
}

func parseLayer(t *testing.T, text, layer string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("policy.toml", []byte(text), policy.Options{Home: "/home/u", Layer: layer})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func word(d policy.Decision) string {
	if d.Action == policy.Prompt && d.Rule.OutOfBand {
		return "out-of-band"
	}
	return d.Action.String()
}

// openness puts answers in order.
var openness = map[string]int{"deny": 0, "out-of-band": 1, "prompt": 2, "allow": 3}

// milder says whether calls go as far in a listed change: one that opens as much from
// the same answer, or shuts as much to the same one.
func milder(reported map[string]bool, old, after string) bool {
	for pair := range reported {
		o, n, _ := strings.Cut(pair, " ")
		if openness[after] > openness[old] && o == old && openness[n] >= openness[after] ||
			openness[after] < openness[old] && n == after && openness[o] >= openness[old] {
			return true
		}
	}
	return false
}

// TestDifferenceAgainstBruteForce asks two policies about every call of a small
// world: each pair of answers that it finds must be among the classes, or, where
// uncommon spellings are not settled, be milder than one that is.
func TestDifferenceAgainstBruteForce(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	ws := worlds(t)
	calls := make([][]*policy.Call, len(ws))
	for i := range ws {
		ws[i].calls(func(c *policy.Call) { calls[i] = append(calls[i], c) })
	}
	counts := map[string]int{}
	for seed := range maxPolicies() {
		if seed > 0 && seed%10000 == 0 {
			t.Logf("%d policies", seed)
		}
		i := seed % len(ws)
		w := &ws[i]
		r := rand.New(rand.NewPCG(2, uint64(seed)))
		a := w.policy(r)
		b := w.changed(r, a)
		// Some are layers, which leave to others what none of their rules matches.
		layer := ""
		if seed%3 == 0 {
			layer = "project"
		}
		before, after := parseLayer(t, a, layer), parseLayer(t, b, layer)
		reported, relative := map[string]bool{}, false
		for _, c := range prove.Difference(before, after, prove.Options{}) {
			if relative = relative || c.Reason == prove.ReasonFolder; c.Reason == prove.ReasonFolder {
				counts["of relative paths, undecided"]++
				continue
			}
			if c.Reason == prove.ReasonBuiltin { // of calls that are none of these
				counts["of built-in tools, undecided"]++
				continue
			}
			if c.Undecided && (w.further || w.beyond) {
				counts["further, undecided"]++
				reported["undecided"] = true
				continue
			}
			if c.Undecided {
				counts["undecided"]++
				t.Errorf("%s %d: undecided (%s): %v %v\n%s---\n%s", w.kind, seed, c.Reason, c.Old, c.New, a, b)
				continue
			}
			counts["changed"]++
			x, y := word(before.Decide(c.Witness)), word(after.Decide(c.Witness))
			if x == y || c.Old.Action.String() != strings.Replace(x, "out-of-band", "prompt", 1) {
				t.Errorf("%s %d: %v %s is answered %s and %s\n%s---\n%s", w.kind, seed, c.Witness.Names, c.Witness.Args, x, y, a, b)
			}
			reported[x+" "+y] = true
		}
		if len(reported) == 0 {
			counts["equal"]++
		}
		listed := func(x, y string) bool {
			return reported[x+" "+y] || reported["undecided"] || w.beyond && milder(reported, x, y)
		}
		for _, c := range calls[i] {
			x, y := word(before.Decide(c)), word(after.Decide(c))
			if x != y && !listed(x, y) {
				reported[x+" "+y] = true
				t.Errorf("%s %d: %v %v %s goes from %s to %s, and that is not reported\n%s---\n%s", w.kind, seed, c.Server, c.Names, c.Args, x, y, a, b)
			}
			if relative || len(w.args) == 0 {
				continue
			}
			in := started(c, seed)
			x, y = word(before.Decide(in)), word(after.Decide(in))
			if x != y && !listed(x, y) {
				reported[x+" "+y] = true
				t.Errorf("%s %d: %v %s in %s goes from %s to %s, and that is not reported\n%s---\n%s", w.kind, seed, c.Names, c.Args, in.Cwd, x, y, a, b)
			}
		}
		if t.Failed() && counts["undecided"] > 5 {
			break
		}
	}
	t.Log(fmt.Sprint(counts))
}
