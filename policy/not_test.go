package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// actionsOf judges calls by a policy: the tool, its server, its arguments.
func actionsOf(t *testing.T, src string, calls ...[3]string) (got []string) {
	t.Helper()
	p := mustLoad(t, src)
	for _, c := range calls {
		call := toolCall(c[0], c[2])
		call.Server = c[1]
		got = append(got, p.Decide(call).Action.String())
	}
	return got
}

// An exception of an allow counts when a reading of the call is one, and an exception
// of a deny or a prompt when every reading is.
func TestExceptions(t *testing.T) {
	const read = "[[rule]]\naction='allow'\ntool='read'\n"
	for _, c := range []struct {
		name, src string
		calls     [][3]string
		want      string
	}{
		{"a tool", "[[rule]]\naction='allow'\ntool='*'\nnot.tool=['delete_*', 'rm']", [][3]string{{"read"}, {"delete_x"}, {"rm"}}, "allow deny deny"},
		{"a server", read + "not.server='prod-*'", [][3]string{{"read", "dev"}, {"read", "prod-1"}, {"read"}}, "allow deny deny"},
		{"a server of a deny", "[[rule]]\naction='deny'\ntool='*'\nnot.server='dev'\n" + read, [][3]string{{"read", "dev"}, {"read", "x"}, {"read"}}, "allow deny deny"},
		{"an argument", read + "args.path='/p/**'\nnot.args.path='**/.git/**'", [][3]string{
			{"read", "", `{"path":"/p/a"}`}, {"read", "", `{"path":"/p/.git/config"}`}, {"read", "", `{"path":"/p/%2egit/config"}`}, {"read", "", `{"path":["/p/a","/p/.git/x"]}`},
			{"read", "", `{"path":"/p/a\u0000"}`}}, "allow deny deny deny deny"},
		{"an argument that the rule does not name", read + "not.args.path='**/.git/**'", [][3]string{{"read", "", `{"n":1}`}, {"read", "", `{"path":"/x"}`}, {"read", "", `{"other_path":"/p/.git/x"}`}}, "allow allow deny"},
		{"an argument of a deny", "[[rule]]\naction='deny'\ntool='*'\nargs.path='/p/**'\nnot.args.path='/p/a/**'\n[[rule]]\naction='allow'\ntool='*'", [][3]string{
			{"read", "", `{"path":"/p/a/x"}`}, {"read", "", `{"path":"/p/b"}`}, {"read", "", `{"path":"/p/a/../b"}`}, {"read", "", `{"path":["/p/a/x","/p/b"]}`}, {"read", "", `{"path":"/p/a/\u0000"}`}},
			"allow deny deny deny deny"},
		{"a JSON text does not excuse what it holds", "[[rule]]\naction='deny'\ntool='*'\nargs.q='**'\nnot.args.q='[**'\n[[rule]]\naction='allow'\ntool='*'", [][3]string{{"read", "", `{"q":"[x"}`}, {"read", "", `{"q":"[\"/p\"]"}`}}, "allow deny"},
		{"any argument", read + "not.args.'*'='**/.git/**'", [][3]string{{"read", "", `{"a":"/p","n":1}`}, {"read", "", `{"o":{"x":["/p","/p/.git/x"]}}`}, {"read", "", `{"s":"{\"x\":\"/p/.git/x\"}"}`}}, "allow deny deny"},
		{"any argument of a deny", "[[rule]]\naction='deny'\ntool='*'\nnot.args.'*'='/p/**'\n[[rule]]\naction='allow'\ntool='*'", [][3]string{{"read", "", `{"a":"/p/1","b":"/p/2"}`}, {"read", "", `{"a":"/p/1","b":"/q"}`}, {"read", "", `{}`}}, "allow deny deny"},
		{"a resource of many", "[[rule]]\naction='allow'\nresource='**'\nnot.resource='**/key'", nil, ""},
	} {
		if got := strings.Join(actionsOf(t, c.src, c.calls...), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	p := mustLoad(t, "[[rule]]\naction='allow'\nresource='file:///p/**'\nnot.resource='**/key'")
	for uri, want := range map[string]Action{"file:///p/a": Allow, "file:///p/key": Deny, "file:///p/%6bey": Deny} {
		call := Call{Subject: ResourceSubject, Names: []string{uri}}
		trace := p.Trace(&call)
		if trace.Decision.Action != want || uri == "file:///p/key" && !(trace.Steps[0].At.Not && trace.Steps[0].At.Kind == NameGlob) {
			t.Errorf("%s: %+v", uri, trace)
		}
	}
}

// args."*" is about every value: an allow wants all of them, other rules one.
func TestAnyArgument(t *testing.T) {
	const deny, rest = "[[rule]]\naction='deny'\ntool='*'\n", "[[rule]]\naction='allow'\ntool='*'"
	for _, c := range []struct {
		name, src string
		calls     [][3]string
		want      string
	}{
		{"a deny", deny + "args.'*'='**/.ssh/**'\n" + rest, [][3]string{
			{"x", "", `{"a":"/p","b":"/h/.ssh/id"}`}, {"x", "", `{"o":[{"k":"/h/.ssh/id"}]}`}, {"x", "", `{"s":"{\"k\":\"/h/.ssh/id\"}"}`}, {"x", "", `{"a":"/h/x/../.ssh/id"}`}, {"x", "", `{"a":"/p"}`}, {"x", "", ""}},
			"deny deny deny deny allow allow"},
		{"an allow", "[[rule]]\naction='allow'\ntool='*'\nargs.'*'='/p/**'", [][3]string{
			{"x", "", `{"a":"/p/1","b":["/p/2"]}`}, {"x", "", `{"a":"/p/1","b":"/q"}`}, {"x", "", `{"a":"/p/1","n":1}`}, {"x", "", `{}`}, {"x", "", `{"a":"/p/../q"}`}},
			"allow deny deny deny deny"},
		{"two allows do not add up", "[[rule]]\naction='allow'\ntool='*'\nargs.'*'='/p/**'\n[[rule]]\naction='allow'\ntool='*'\nargs.'*'='/q/**'", [][3]string{
			{"x", "", `{"from":"/p/1","to":"/q/1"}`}, {"x", "", `{"from":"/q/1","to":"/q/2"}`}}, "deny allow"},
		{"a prompt", "[[rule]]\naction='prompt'\ntool='*'\nargs.'*'='/p/**'\n" + deny + "args.b='/q'\n" + rest, [][3]string{
			{"x", "", `{"a":"/p/1"}`}, {"x", "", `{"a":"/p/1","b":"/x"}`}, {"x", "", `{"a":"/p/1","b":"/q"}`}, {"x", "", `{"a":"/x"}`}}, "prompt prompt deny allow"},
		{"a constraint", deny + "where.'*'={ host = 'evil.test' }\n" + rest, [][3]string{{"x", "", `{"o":{"u":"https://evil.test/x"}}`}, {"x", "", `{"u":"https://good.test/"}`}}, "deny allow"},
		{"beside another argument", "[[rule]]\naction='allow'\ntool='*'\nargs.mode='r'\nargs.'*'=['/p/**', 'r']", [][3]string{{"x", "", `{"mode":"r","a":"/p/1"}`}, {"x", "", `{"mode":"w","a":"/p/1"}`}, {"x", "", `{"a":"/p/1"}`}}, "allow deny deny"},
		{"more than are looked up", deny + "args.'*'='/q'\n" + rest, [][3]string{{"x", "", `{"l":["` + strings.Repeat(`/p/a","`, 100) + `/q"]}`}, {"x", "", `{"l":["` + strings.Repeat(`/p/a","`, 100) + `/p"]}`}}, "deny allow"},
		{"what is not JSON", rest + "\nargs.'*'='**'", [][3]string{{"x", "", `{"a":`}}, "deny"},
	} {
		if got := strings.Join(actionsOf(t, c.src, c.calls...), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// A trace shows the exception that kept a rule from matching, and the value.
func TestTraceShowsExceptions(t *testing.T) {
	p := mustLoad(t, "[[rule]]\naction='allow'\ntool='*'\nnot.tool='rm'\nserver='*'\nnot.server='prod'\nargs.a='/p/**'\nargs.'*'='/p/**'\nnot.args.a='**/x'")
	for _, c := range []struct {
		tool, server, args string
		want               Condition
	}{
		{"rm", "s", `{"a":"/p/1"}`, Condition{Kind: NameGlob, Not: true, Want: []string{"rm"}, Got: "rm"}},
		{"t", "prod", `{"a":"/p/1"}`, Condition{Kind: CallCondition, Key: "server", Not: true, Want: []string{"prod"}, Got: "prod"}},
		{"t", "s", `{"a":"/p/x"}`, Condition{Kind: ArgumentGlob, Path: []string{"a"}, Not: true, Want: []string{"**/x"}, Reading: &Reading{Text: "/p/x", Sent: "/p/x"}}},
		{"t", "s", `{"a":"/p/1","b":"/q"}`, Condition{Kind: ArgumentGlob, Path: []string{"*"}, Want: []string{"/p/**"}, Reading: &Reading{Text: "/q", Sent: "/q"}}},
	} {
		call := toolCall(c.tool, c.args)
		call.Server = c.server
		trace := p.Trace(call)
		if d := cmp.Diff(c.want, trace.Steps[0].At); d != "" || trace.Decision.Action != Deny {
			t.Errorf("%s %s %s: %s", c.tool, c.server, c.args, d)
		}
	}
	call := toolCall("t", `{"b":"/p/1"}`)
	values := p.Trace(call).Values
	if len(values) != 1 || cmp.Diff([]string{"*"}, values[0].Path) != "" {
		t.Errorf("%+v", values)
	}
}

// What a person's answer writes keeps exceptions and what is said of any argument.
func TestNarrowKeepsExceptions(t *testing.T) {
	p := mustLoad(t, "[[rule]]\naction='prompt'\ntool='*'\nargs.'*'='/p/**'\nnot.tool='rm'\nnot.server=['a', 'b']\nnot.args.x.y='**/z'")
	call := toolCall("t", `{"a":"/p/1"}`)
	call.Server = "s"
	n, err := p.NarrowRule(p.Rules()[0], call, Exact, Allow)
	if err != nil {
		t.Fatal(err)
	}
	want := "args.a = \"/p/1\"\nargs.\"*\" = \"/p/**\"\nwhere.a.type = \"string\"\nnot.tool = \"rm\"\nnot.server = [\"a\", \"b\"]\nnot.args.x.y = \"**/z\"\n"
	if !strings.Contains(n.Text, want) || len(n.Not) != 3 {
		t.Errorf("%s%q", n.Text, n.Not)
	}
	for _, args := range []string{`{"*":"/p/1"}`, `{"o":{"*":"/p/1"}}`} {
		p := mustLoad(t, "[[rule]]\naction='prompt'\ntool='*'\nargs.a.b='x'\n[[rule]]\naction='prompt'\ntool='*'")
		if _, err := p.NarrowRule(p.Rules()[1], toolCall("t", args), Exact, Allow); err == nil {
			t.Errorf("%s: a rule was written", args)
		}
	}
	wide := mustLoad(t, "[[rule]]\naction='prompt'\ntool='*'\nargs.a='x'")
	if _, err := wide.NarrowRule(wide.Rules()[0], toolCall("t", `{"a":"x","o":{"*":"/p/1"}}`), Tool, Allow); err == nil || !strings.Contains(err.Error(), `argument called "*"`) {
		t.Errorf("%v", err)
	}
}
