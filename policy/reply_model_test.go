package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
)

// modelRule is a rule of the model: a tool's name, a value of one argument, a server and
// kinds; "" and nil are no condition.
type modelRule struct {
	action      Action
	on          On
	tool        string // "*" is any
	arg, server string
	kinds       []string
}

func (r *modelRule) toml() string {
	more := ""
	if r.arg != "" {
		more += fmt.Sprintf("args.a = %q\n", r.arg)
		if r.action == Allow {
			more += "args_open = true\n"
		}
	}
	if r.server != "" {
		more += fmt.Sprintf("server = %q\n", r.server)
	}
	return ruleText(r.on.String(), r.action.String(), r.tool, strings.Join(r.kinds, ","), more)
}

// modelCall is a call with the values of one argument, each a reading; without a tool it
// is not known.
type modelCall struct {
	tool, server string
	values       []string
}

func (c *modelCall) call() Call {
	if c.tool == "" {
		return Call{Server: c.server}
	}
	args := `{"a":["` + strings.Join(c.values, `","`) + `"]}`
	call := *toolCall(c.tool, args)
	call.Server = c.server
	return call
}

// model is what the rules say of one reading of a reply, literally: the first rule that
// matches for certain decides, those that may match before it hold if they tighten.
func modelReading(rules []modelRule, c *modelCall, value, kind string, alters map[string]bool) Action {
	worst := Allow
	for i := range rules {
		r := &rules[i]
		if r.on != OnReply || kind == "" && r.kinds != nil || kind != "" && !slices.Contains(r.kinds, kind) && !slices.Contains(r.kinds, "*") {
			continue
		}
		sure := true
		switch {
		case r.server == "" || r.server == c.server:
		case c.server == "":
			sure = false
		default:
			continue
		}
		switch {
		case c.tool == "":
			sure = false
		case r.tool != "*" && r.tool != c.tool, r.arg != "" && r.arg != value:
			continue
		}
		switch {
		case r.action == Allow && !sure:
			continue
		case r.action.AltersContent():
			alters[fmt.Sprint(i, " ", kind)] = true
		case r.action < worst:
			worst = r.action
		}
		if sure {
			break
		}
	}
	return worst
}

// model is DecideReply as docs/policy.md says it, tried for every reading of every call.
func model(rules []modelRule, calls []modelCall, kinds []string) (Action, map[string]bool) {
	worst, all := Allow, map[string]bool{}
	for i := range calls {
		for _, kind := range append([]string{""}, kinds...) {
			values := calls[i].values
			if len(values) == 0 {
				values = []string{""}
			}
			alters := map[string]bool{}
			for _, value := range values {
				worst = min(worst, modelReading(rules, &calls[i], value, kind, alters))
			}
			for a := range alters {
				all[fmt.Sprint(i, " ", a)] = true
			}
		}
	}
	if worst == Deny {
		return Deny, map[string]bool{}
	}
	return worst, all
}

func checkReplyModel(t *testing.T, seed1, seed2 uint64) {
	r := rand.New(rand.NewPCG(seed1, seed2))
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	kinds := []string{"secret", "hidden", "card"}
	some := func() (out []string) {
		for _, k := range kinds {
			if r.IntN(2) == 0 {
				out = append(out, k)
			}
		}
		return out
	}
	var rules []modelRule
	var src strings.Builder
	for range r.IntN(6) {
		m := modelRule{on: OnReply, tool: pick("*", "x", "y"), arg: pick("", "", "p", "q"), server: pick("", "", "s", "t")}
		if m.kinds = some(); r.IntN(6) == 0 {
			m.kinds = []string{"*"}
		}
		if m.action = onActions[OnReply][r.IntN(6)]; m.action == Redact && m.kinds == nil {
			m.action = Fence
		}
		if r.IntN(8) == 0 && m.action != Allow && !m.action.AltersContent() {
			m.on = OnCall
		}
		rules = append(rules, m)
		src.WriteString(m.toml())
	}
	calls := make([]modelCall, 1+r.IntN(2))
	for i := range calls {
		calls[i] = modelCall{tool: pick("", "x", "x", "y"), server: pick("", "s", "t")}
		for range 1 + r.IntN(2) {
			calls[i].values = append(calls[i].values, pick("p", "q", "z"))
		}
	}
	found := some()
	p := parseReply(t, src.String(), Options{})
	var judged []Call
	for i := range calls {
		judged = append(judged, calls[i].call())
	}
	d := p.DecideReply(OnReply, judged, found)
	got := map[string]bool{}
	for _, a := range d.Alters {
		got[fmt.Sprint(a.Call, " ", a.Rule.Index, " ", a.Kind)] = true
	}
	action, want := model(rules, calls, found)
	if d.Action != action || fmt.Sprint(got) != fmt.Sprint(want) || len(d.Alters) != len(got) {
		t.Fatalf("%s %v\nwant %s %v\nof %+v with %v\n%s", d.Action, got, action, want, calls, found, src.String())
	}
}

// What the walk through the index says is what the rules say read literally.
func TestDecideReplyIsTheModel(t *testing.T) {
	slow.Test(t)
	for i := range uint64(3000) {
		checkReplyModel(t, i, 17)
	}
}

func FuzzDecideReply(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(checkReplyModel)
}

// One more rule that denies, asks or alters loosens nothing, wherever it stands; of an
// allow none beyond the kinds that it names.
func TestReplyRulesOnlyTighten(t *testing.T) {
	slow.Test(t)
	for i := range uint64(300) {
		r := rand.New(rand.NewPCG(i, 3))
		var rules []string
		for range 3 {
			rules = append(rules, ruleText("reply", onActions[OnReply][r.IntN(5)+1].String(), "*", []string{"secret", "hidden", "*"}[r.IntN(3)], ""))
		}
		call := []Call{*toolCall("x", "")}
		for _, kind := range []string{"secret", "hidden"} {
			before := parseReply(t, strings.Join(rules[1:], ""), Options{}).DecideReply(OnReply, call, []string{kind})
			exempt := parseReply(t, ruleText("reply", "allow", "*", "card", "")+strings.Join(rules[1:], ""), Options{}).DecideReply(OnReply, call, []string{kind})
			if before.Action != exempt.Action || len(before.Alters) != len(exempt.Alters) {
				t.Errorf("an exception for cards changes %s: %s, %s", kind, shownReply(before), shownReply(exempt))
			}
			layered := parseReply(t, strings.Join(rules[1:], ""), Options{Above: []*Policy{parseReply(t, rules[0], Options{Layer: "org"})}}).DecideReply(OnReply, call, []string{kind})
			if layered.Action > before.Action || layered.Action != Deny && len(layered.Alters) < len(before.Alters) {
				t.Errorf("a layer loosens: %s, %s", shownReply(before), shownReply(layered))
			}
		}
	}
}
