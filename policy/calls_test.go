package policy

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/policy/reading"
)

// A policy that was read for a call says of it what one says that was read for any.
func TestLawReadForOneCall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := drawTyped(hostilePatterns).Draw(t, "policy")
		c := drawCall(t, drawHostile())
		call := toolCall(c.name, argsJSON(c.args))
		call.Server, call.Cwd = c.server, "/home/u/p"
		want := compileRules(t, rules).Decide(call)
		p, errs := compileSources(rules, Options{Home: "/home/u", Calls: []Call{*call}})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		if got := p.Decide(call); got.Action != want.Action {
			t.Fatalf("%+v, not %+v", got, want)
		}
	})
}

const fewRules = `
[[rule]]
action = "deny"
tool = "read"
args.path = "**/.ssh/**"

[[rule]]
action = "allow"
server = ["a", "b*"]
tool = ["Read", "list_*"]
args_only = ["path", "file_path"]
not.args.path = "/etc/**"

[[rule]]
action = "deny"
server = ["a", "b*"]
tool = "*"
after = ["secret"]

[[rule]]
action = "deny"
tool = "list_*"
find = ["marker"]

[[rule]]
action = "allow"
resource = "file:///p/**"
not.resource = "file:///p/x"

[[rule]]
action = "deny"
on = "reply"
tool = "list_*"
find = ["secret"]
`

// Whatever else such a policy is asked it denies: another call, what comes back.
func TestReadForOneCall(t *testing.T) {
	list := *toolCall("list_all", `{"path":"/p/a"}`)
	list.Server = "b1"
	own := Call{Server: "claude-code", Method: builtin.Method, Subject: ToolSubject, Names: []string{"Read"}, Args: []byte(`{"file_path":"/home/u/.ssh/id"}`)}
	uri := Call{Server: "a", Subject: ResourceSubject, Names: []string{"file:///p/y"}}
	calls := []Call{list, own, uri}
	whole := load(t, fewRules, Options{Home: "/home/u"})
	for i := range calls {
		p := load(t, fewRules, Options{Home: "/home/u", Calls: calls[i : i+1]})
		for j := range calls {
			got, want := p.Decide(&calls[j]), whole.Decide(&calls[j])
			switch {
			case i == j && (got.Action != want.Action || got.Reason != want.Reason):
				t.Errorf("call %d: %+v, not %+v", i, got, want)
			case i != j && (got.Action != Deny || got.Reason != otherCall):
				t.Errorf("read for call %d, asked about call %d: %+v", i, j, got)
			}
		}
		if d := p.DecideReply(OnReply, calls[i:i+1], nil); d.Action != Deny || d.Reason != otherCall {
			t.Errorf("of a reply: %+v", d)
		}
		if kinds, ruled := p.Screens(OnCall); len(kinds) > 0 != (i == 0) || ruled != (i == 0) {
			t.Errorf("looked for, of call %d: %v %v", i, kinds, ruled)
		}
		if !p.Labelled() || !p.DependsOnHints() || p.Timed() {
			t.Errorf("what an answer may depend on: %v %v %v", p.Labelled(), p.DependsOnHints(), p.Timed())
		}
		other := calls[i]
		other.OS = Windows
		if d := p.Decide(&other); d.Action != Deny || d.Reason != otherCall {
			t.Errorf("on another system: %+v", d)
		}
	}
}

// What is wrong with a rule is found whatever call the policy is read for.
func TestEveryRuleIsCheckedForOneCall(t *testing.T) {
	other := *toolCall("other", `{}`)
	for _, rule := range []string{
		"args.a = \"x/@base\"", "where.a = { regex = \"(\" }", "where.a = { command = \"a; b\" }", "where.a = { min = \"x\" }", "args.a = []", "unknown = 1",
	} {
		rule = strings.ReplaceAll(rule, "@base", reading.BaseWord)
		src := []byte("[[rule]]\naction = \"deny\"\ntool = \"mine\"\n" + rule + "\n")
		_, want := Parse("p.toml", src, Options{})
		_, got := Parse("p.toml", src, Options{Calls: []Call{other}})
		if want == nil || got == nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, not %v", rule, got, want)
		}
	}
}
