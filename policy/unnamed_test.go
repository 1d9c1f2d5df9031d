package policy

import (
	"strings"
	"testing"
)

// A rule about what comes back may stand without a subject: it judges answers of tools,
// resources, prompts, methods, of the client, and what comes by itself.
func TestRulesWithoutASubject(t *testing.T) {
	p, err := Parse("p.toml", []byte(`
[[rule]]
action = "allow"
on = "reply"
tool = "read"
find = ["card"]

[[rule]]
action = "deny"
on = "reply"
find = ["hidden", "card"]
not.server = "own"

[[rule]]
action = "redact"
on = "list"
find = ["hidden"]

[[rule]]
action = "fence"
on = "reply"
server = "web*"
`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]Call{
		"tool": {Subject: ToolSubject, Names: []string{"a/b"}}, "resource": {Subject: ResourceSubject, Names: []string{"x://y/z"}}, "prompt": {Subject: PromptSubject, Names: []string{"p"}},
		"sampling": {Subject: SamplingSubject, Names: []string{"t"}}, "elicitation": {Subject: ElicitationSubject, Names: []string{"t"}}, "method": {Subject: MethodSubject, Names: []string{"initialize"}},
		"nothing known": {},
	}
	for name, c := range calls {
		if d := p.DecideReply(OnReply, []Call{c}, []string{"hidden"}); d.Action != Deny || d.Rule == nil || d.Rule.Index != 1 {
			t.Errorf("%s: %+v", name, d)
		}
		if d := p.DecideReply(OnReply, []Call{c}, nil); d.Action != Allow {
			t.Errorf("%s, clean: %+v", name, d)
		}
		c.Server = "own"
		if d := p.DecideReply(OnReply, []Call{c}, []string{"hidden"}); d.Action != Allow {
			t.Errorf("%s of an excepted server: %+v", name, d)
		}
		c.Server = "web1"
		if d := p.DecideReply(OnReply, []Call{c}, nil); len(d.Alters) != 1 || d.Alters[0].Rule.Action != Fence {
			t.Errorf("%s, to be fenced: %+v", name, d)
		}
		if d := p.DecideReply(OnList, []Call{c}, []string{"hidden"}); len(d.Alters) != 1 {
			t.Errorf("%s in a list: %+v", name, d)
		}
	}
	read := Call{Subject: ToolSubject, Names: []string{"read"}}
	if d := p.DecideReply(OnReply, []Call{read}, []string{"card"}); d.Action != Allow {
		t.Errorf("an exception above: %+v", d)
	}
	read.Finds, read.Screened = []string{"hidden"}, true
	if tr := p.PolicyFor(OnReply).Trace(&read); tr.Decision.Action != Deny {
		t.Errorf("traced: %+v", tr.Decision)
	}
	if s := p.Sources()[1]; !s.CoversAllSubjects() || p.Sources()[0].CoversAllSubjects() {
		t.Error("which of the rules has no subject")
	}
	if d := p.Decide(&read); d.Action != Deny || d.Rule != nil {
		t.Errorf("a call is judged by %+v", d.Rule)
	}
	for text, want := range map[string]string{
		"args.path = \"a\"":                 "args without a subject",
		"where.path = { under = [\"/a\"] }": "where without a subject",
		"args_only = true":                  "args_only without a subject",
		"annotations = [\"destructive\"]":   "annotations without a subject",
		"not.tool = \"a\"":                  "not.tool without a subject",
		"not.args.path = \"a\"":             "not.args without a subject",
		"limit = \"3/minute\"":              "limit beside",
		"on = \"call\"\n":                   "rule without a subject",
	} {
		on := "on = \"reply\"\n"
		if strings.HasPrefix(text, "on") {
			on = ""
		}
		_, err := Parse("p.toml", []byte("[[rule]]\naction = \"deny\"\n"+on+text), Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
