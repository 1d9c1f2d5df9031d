package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
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
	for _, a := range d.Alters {
		text += strings.TrimSuffix(fmt.Sprintf("; %s by %d of %d %s", a.Rule.Action, a.Rule.Index, a.Call, a.Kind), " ")
	}
	if d.Reason != "" {
		text += ": " + d.Reason
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
