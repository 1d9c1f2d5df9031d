package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func parseReply(t *testing.T, src string, o Options) *Policy {
	t.Helper()
	o.Home = home
	p, err := Parse("policy.toml", []byte(src), o)
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return p
}

// ruleText is a rule in one line: "reply deny fetch hidden,secret args.path='/a'".
func ruleText(on, action, tool, find, more string) string {
	text := fmt.Sprintf("[[rule]]\non = %q\naction = %q\ntool = %q\n", on, action, tool)
	if find != "" {
		text += "find = ['" + strings.ReplaceAll(find, ",", "', '") + "']\n"
	}
	return text + more + "\n"
}

// shownReply is a decision in one line: action, line of the rule and kind, and what is altered.
func shownReply(d Decision) string {
	text := d.Action.String()
	if d.Rule != nil {
		text += fmt.Sprintf(" by %d", d.Rule.Index)
	}
	if d.Kind != "" {
		text += " " + d.Kind
	}
	text += shownAlterations(d.Alters)
	if d.Reason != "" {
		text += ": " + d.Reason
	}
	return text
}

// shownAlterations are alterations in one line: action, index of the rule, call and kind.
func shownAlterations(all []Alteration) (text string) {
	for _, a := range all {
		text += strings.TrimSuffix(fmt.Sprintf("; %s by %d of %d %s", a.Rule.Action, a.Rule.Index, a.Call, a.Kind), " ")
	}
	return text
}

func TestDecideReply(t *testing.T) {
	fence, redact := ruleText("reply", "fence", "*", "", ""), ruleText("reply", "redact", "*", "secret", "")
	ask := ruleText("reply", "prompt", "fetch*", "comment,encoded", "")
	spare := ruleText("reply", "allow", "read", "secret", "args.path = '/data/**'")
	for name, c := range map[string]struct {
		rules, tool, args, finds, want string
	}{
		"no rule":                     {"", "read", "", "secret", "allow"},
		"rules about calls":           {ruleText("call", "deny", "**", "", ""), "read", "", "secret", "allow"},
		"rules about lists":           {ruleText("list", "deny", "**", "", ""), "read", "", "secret", "allow"},
		"a clean reply":               {redact + ask, "fetch", "", "", "allow"},
		"another tool":                {ask, "read", "", "comment", "allow"},
		"any kind":                    {ruleText("reply", "deny", "*", "*", ""), "read", "", "vin", "deny by 0 vin"},
		"any kind, of nothing":        {ruleText("reply", "deny", "*", "*", ""), "read", "", "", "allow"},
		"transformations add up":      {fence + redact, "read", "", "secret,hidden", "allow; fence by 0 of 0; redact by 1 of 0 secret"},
		"and stand beside a question": {fence + redact + ask, "fetch", "", "secret,comment", "prompt by 2 comment; fence by 0 of 0; redact by 1 of 0 secret"},
		"a denial drops them":         {fence + redact + ruleText("reply", "deny", "*", "hidden", ""), "read", "", "secret,hidden", "deny by 2 hidden"},
		"deny before prompt":          {ask + ruleText("reply", "deny", "*", "secret", ""), "fetch", "", "comment,secret", "deny by 1 secret"},
		"first match for a kind":      {redact + ruleText("reply", "deny", "*", "secret", ""), "read", "", "secret", "allow; redact by 0 of 0 secret"},
		"the whole shields no kind":   {ruleText("reply", "allow", "*", "", "") + redact, "read", "", "secret", "allow; redact by 1 of 0 secret"},
		"an exception":                {spare + redact, "read", `{"path":"/data/a"}`, "secret", "allow"},
		"of another kind":             {spare + redact + ask, "read", `{"path":"/data/a"}`, "hidden,secret", "allow"},
		"not in another place":        {spare + redact, "read", `{"path":"/etc/a"}`, "secret", "allow; redact by 1 of 0 secret"},
		"nor in one reading":          {spare + redact, "read", `{"path":["/data/a","/etc/a"]}`, "secret", "allow; redact by 1 of 0 secret"},
		"nor with further arguments":  {spare + redact, "read", `{"path":"/data/a","also":"/etc/a"}`, "secret", "allow; redact by 1 of 0 secret"},
		"any reading alters": {ruleText("reply", "redact", "read", "secret", "args.path = '/etc/**'"), "read", `{"path":["/data/a","/etc/a"]}`, "secret",
			"allow; redact by 0 of 0 secret"},
		"the same kind twice": {redact, "read", "", "secret,secret", "allow; redact by 0 of 0 secret"},
		"a kind of a pack":    {ruleText("reply", "warn", "*", "*", "") + redact, "read", "", "mine", "allow; warn by 0 of 0 mine"},
	} {
		t.Run(name, func(t *testing.T) {
			p := parseReply(t, c.rules, Options{})
			var finds []string
			if c.finds != "" {
				finds = strings.Split(c.finds, ",")
			}
			if got := shownReply(p.DecideReply(OnReply, []Call{*toolCall(c.tool, c.args)}, finds)); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// What came back to a call that is not known may be about any rule, as far as its server
// does not say otherwise; an exception is none.
func TestDecideReplyOfAnUnknownCall(t *testing.T) {
	here := "server = 'shop'"
	for name, c := range map[string]struct{ rules, want string }{
		"nothing":           {ruleText("call", "deny", "*", "", ""), "allow"},
		"deny":              {ruleText("reply", "deny", "delete_x", "secret", "args.path = '/a'"), "deny by 0 secret"},
		"allow":             {ruleText("reply", "allow", "*", "secret", "") + ruleText("reply", "redact", "x", "secret", ""), "allow; redact by 1 of 0 secret"},
		"strictest":         {ruleText("reply", "prompt", "*", "secret", "") + ruleText("reply", "deny", "x", "secret", "") + ruleText("reply", "prompt", "x", "secret", ""), "deny by 1 secret"},
		"its server":        {ruleText("reply", "prompt", "*", "secret", here), "prompt by 0 secret"},
		"of another server": {ruleText("reply", "prompt", "*", "secret", "server = 'other'"), "allow"},
		"of other kinds":    {ruleText("reply", "prompt", "*", "hidden", ""), "allow"},
		"whole":             {ruleText("reply", "fence", "x", "", ""), "allow; fence by 0 of 0"},
		"both":              {ruleText("reply", "fence", "x", "", "") + ruleText("reply", "prompt", "y", "", ""), "prompt by 1; fence by 0 of 0"},
	} {
		t.Run(name, func(t *testing.T) {
			p := parseReply(t, c.rules, Options{})
			if got := shownReply(p.DecideReply(OnReply, []Call{{Server: "shop"}}, []string{"secret"})); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
	p := parseReply(t, ruleText("reply", "deny", "x", "", here), Options{})
	if d := p.DecideReply(OnReply, nil, nil); d.Action != Deny {
		t.Errorf("without any call: %s", shownReply(d))
	}
	if d := p.DecideReply(OnReply, []Call{{Server: "other", Malformed: "a name with a tag"}}, nil); d.Action != Deny || d.Reason == "" {
		t.Errorf("malformed: %s", shownReply(d))
	}
	if d := p.DecideReply(OnCall, []Call{{Server: "other"}}, nil); d.Action != Deny || d.Reason == "" {
		t.Errorf("a call: %s", shownReply(d))
	}
}

// Several calls, or entries of a list, stand together; layers tighten.
func TestDecideReplyOfSeveralAndUnderLayers(t *testing.T) {
	layer := func(rules string) *Policy { return parseReply(t, rules, Options{Layer: "org"}) }
	p := parseReply(t, ruleText("list", "redact", "get_*", "hidden", "")+ruleText("reply", "allow", "*", "secret", ""), Options{Above: []*Policy{
		layer(ruleText("list", "prompt", "*_b", "", "")), layer(ruleText("reply", "redact", "*", "secret", "") + ruleText("reply", "warn", "*", "", "")),
		layer(ruleText("call", "deny", "shell", "", ""))}})
	entries := []Call{*toolCall("get_a", ""), *toolCall("get_b", "")}
	if got, want := shownReply(p.DecideReply(OnList, entries, []string{"hidden"})), "prompt by 0; redact by 0 of 0 hidden; redact by 0 of 1 hidden"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got, want := shownReply(p.DecideReply(OnReply, entries[:1], []string{"secret"})), "allow; warn by 1 of 0; redact by 0 of 0 secret"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for on, want := range map[On]string{OnCall: "[] false", OnReply: "[secret] true", OnList: "[hidden] true"} {
		kinds, ruled := p.Screens(on)
		if got := fmt.Sprint(kinds, ruled); got != want {
			t.Errorf("%v: screens %s, want %s", on, got, want)
		}
	}
	under := parseReply(t, "", Options{Above: p.Layers()})
	if got := shownReply(under.DecideReply(OnReply, entries[:1], []string{"secret"})); got != "allow; warn by 1 of 0; redact by 0 of 0 secret" {
		t.Errorf("by layers alone: %s", got)
	}
	denied := parseReply(t, "", Options{Above: append(slices.Clone(p.Layers()), layer(ruleText("reply", "deny", "*", "*", "")))})
	if got := shownReply(denied.DecideReply(OnReply, entries[:1], []string{"secret"})); got != "deny by 0 secret" {
		t.Errorf("denied by a layer: %s", got)
	}
}

// What a person lets through is altered by each rule that may alter it, whatever the other rules say
// of it: a denial, an exception and the order of the rules take no alteration away.
func TestAlterReply(t *testing.T) {
	fence, redact := ruleText("reply", "fence", "*", "", ""), ruleText("reply", "redact", "*", "secret", "")
	for name, c := range map[string]struct {
		rules, tool, args, finds, want string
	}{
		"no rule":                        {"", "read", "", "secret", ""},
		"rules about calls":              {ruleText("call", "deny", "**", "", ""), "read", "", "secret", ""},
		"rules about lists":              {ruleText("list", "redact", "**", "secret", ""), "read", "", "secret", ""},
		"of lists beside one of replies": {ruleText("list", "redact", "*", "secret", "") + fence, "read", "", "secret", "; fence by 1 of 0"},
		"a denial alters nothing":        {ruleText("reply", "deny", "*", "hidden", ""), "read", "", "hidden", ""},
		"and takes nothing away":         {fence + redact + ruleText("reply", "deny", "*", "hidden", ""), "read", "", "hidden,secret", "; fence by 0 of 0; redact by 1 of 0 secret"},
		"nor does a denial above":        {ruleText("reply", "deny", "*", "secret", "") + redact, "read", "", "secret", "; redact by 1 of 0 secret"},
		"nor a question":                 {ruleText("reply", "prompt", "*", "secret", "") + redact, "read", "", "secret", "; redact by 1 of 0 secret"},
		"nor an exception":               {ruleText("reply", "allow", "*", "secret", "") + redact, "read", "", "secret", "; redact by 1 of 0 secret"},
		"nor other arguments":            {ruleText("reply", "redact", "*", "secret", "args.path = '/etc/**'"), "read", `{"path":"/data/a"}`, "secret", "; redact by 0 of 0 secret"},
		"each of two rules":              {redact + ruleText("reply", "redact", "read", "*", ""), "read", "", "secret", "; redact by 0 of 0 secret; redact by 1 of 0 secret"},
		"each kind of a rule":            {ruleText("reply", "redact", "*", "card,secret", ""), "read", "", "secret,hidden,card", "; redact by 0 of 0 secret; redact by 0 of 0 card"},
		"what was not found":             {redact, "read", "", "hidden", ""},
		"another tool":                   {ruleText("reply", "redact", "fetch", "secret", ""), "read", "", "secret", ""},
		"its tool, under other names":    {ruleText("reply", "redact", "re*", "secret", ""), "read", "", "secret", "; redact by 0 of 0 secret"},
		"another subject":                {"[[rule]]\naction = 'redact'\non = 'reply'\nresource = '**'\nfind = ['secret']\n", "read", "", "secret", ""},
		"any subject":                    {"[[rule]]\naction = 'redact'\non = 'reply'\nfind = ['secret']\n", "read", "", "secret", "; redact by 0 of 0 secret"},
		"an unknown name":                {ruleText("reply", "redact", "fetch", "secret", ""), "", "", "secret", ""},
		"another server":                 {ruleText("reply", "redact", "*", "secret", "server = 'other'"), "read", "", "secret", ""},
	} {
		t.Run(name, func(t *testing.T) {
			call := *toolCall(c.tool, c.args)
			call.Server = "shop"
			got := shownAlterations(parseReply(t, c.rules, Options{}).AlterReply([]Call{call}, strings.Split(c.finds, ",")))
			if got != c.want {
				t.Errorf("%q\nwant %q", got, c.want)
			}
			if call.Screened || call.Finds != nil {
				t.Errorf("the call of the caller became %+v", call)
			}
		})
	}
}

// The rules of layers alter what a person lets through too, and so do rules about any of its calls.
func TestAlterReplyOfSeveralAndUnderLayers(t *testing.T) {
	org := parseReply(t, ruleText("reply", "deny", "*", "*", "")+ruleText("reply", "redact", "*", "secret", ""), Options{Layer: "org"})
	about := parseReply(t, ruleText("call", "deny", "shell", "", ""), Options{Layer: "about calls"})
	calls := []Call{*toolCall("read", ""), *toolCall("fetch", "")}
	calls[0].Server, calls[1].Server = "shop", "mail"
	for rules, want := range map[string]string{
		"": "; redact by 1 of 0 secret; redact by 1 of 0 secret",
		ruleText("reply", "warn", "*", "", "server = 'mail'"): "; redact by 1 of 0 secret; redact by 1 of 0 secret; warn by 0 of 0",
	} {
		p := parseReply(t, rules, Options{Above: []*Policy{org, about}})
		if got := shownAlterations(p.AlterReply(calls, []string{"secret"})); got != want {
			t.Errorf("%q\n%s, want %s", rules, got, want)
		}
		if got := shownAlterations(p.AlterReply([]Call{{Server: "shop"}}, []string{"secret"})); got != "; redact by 1 of 0 secret" {
			t.Errorf("%q\nto no known call: %s", rules, got)
		}
		if got := p.AlterReply(nil, []string{"secret"}); got != nil {
			t.Errorf("%q\nwithout a call: %s", rules, shownAlterations(got))
		}
	}
}

// Whatever DecideReply would alter, AlterReply alters too.
func TestAlterReplyLeavesNoAlterationOut(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		anyKinds := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"secret", "card", "hidden"}), 1, 3, rapid.ID)
		var rules strings.Builder
		for range rapid.IntRange(1, 5).Draw(rt, "rules") {
			action := rapid.SampledFrom([]string{"allow", "deny", "prompt", "redact", "fence", "warn"}).Draw(rt, "action")
			find := ""
			if action == "redact" || rapid.Bool().Draw(rt, "finds") {
				find = strings.Join(anyKinds.Draw(rt, "find"), ",")
			}
			tool := rapid.SampledFrom([]string{"*", "read", "fetch"}).Draw(rt, "tool")
			args := rapid.SampledFrom([]string{"", "args.path = '/a'"}).Draw(rt, "args")
			rules.WriteString(ruleText("reply", action, tool, find, args))
		}
		p := parseReply(t, rules.String(), Options{})
		calls := []Call{*toolCall(rapid.SampledFrom([]string{"read", "fetch"}).Draw(rt, "called"), rapid.SampledFrom([]string{"", `{"path":"/a"}`, `{"path":"/b"}`}).Draw(rt, "with"))}
		kinds := anyKinds.Draw(rt, "found")
		all := p.AlterReply(calls, kinds)
		for _, a := range p.DecideReply(OnReply, calls, kinds).Alters {
			if !slices.ContainsFunc(all, func(b Alteration) bool { return b.Kind == a.Kind && b.Rule.Index == a.Rule.Index }) {
				rt.Fatalf("%s by %d of %q is left out of%s\n%s", a.Rule.Action, a.Rule.Index, a.Kind, shownAlterations(all), rules.String())
			}
		}
	})
}

func TestScreens(t *testing.T) {
	p := parseReply(t, ruleText("reply", "deny", "*", "", "")+ruleText("call", "deny", "*", "secret,card", "")+ruleText("call", "prompt", "*", "card", "")+
		ruleText("list", "deny", "*", "*", ""), Options{})
	for on, want := range map[On]string{OnCall: "[card secret] true", OnReply: "[] true"} {
		kinds, ruled := p.Screens(on)
		if got := fmt.Sprint(kinds, ruled); got != want {
			t.Errorf("%v: %s, want %s", on, got, want)
		}
	}
	if kinds, _ := p.Screens(OnList); len(kinds) != len(FindingKinds())-1 || slices.Contains(kinds, "schema") {
		t.Errorf("any kind that is found on a list: %v", kinds)
	}
	if kinds, ruled := parseReply(t, "", Options{}).Screens(OnReply); kinds != nil || ruled {
		t.Errorf("no rules: %v", kinds)
	}
	if p.PolicyFor(OnCall) != p || p.PolicyFor(OnReply) == nil || p.PolicyFor(OnReply).Revision() != p.Revision() {
		t.Error("a policy about replies is another")
	}
}
