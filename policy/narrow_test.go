package policy

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const home = "/home/user"

func mustLoad(t testing.TB, src string) *Policy {
	t.Helper()
	p, err := Parse("p.toml", []byte(src), Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestNarrow(t *testing.T) {
	tool := func(args string) Call {
		return Call{Server: "fs", Subject: ToolSubject, Names: []string{"write"}, Args: []byte(args)}
	}
	const head = "action = \"allow\"\ntool = \"write\"\nserver = \"fs\"\n"
	for _, c := range []struct {
		name, rule string
		scope      Scope
		call       Call
		want       string // of the rule, below [[rule]]
	}{
		{"a tool", "tool = 'write_*'\ndescription = 'Ask \"first\"'", Exact,
			Call{Server: "fs", Subject: ToolSubject, Names: []string{"write_file"}, Args: []byte(` {"path": "/p/a b.txt", "n": -12, "m": 1e2, "ok": true, "a.b": "1\n\r\t\u202e\u00e9\\"} `)},
			`action = "allow"
tool = "write_file"
server = "fs"
args.path = "/p/a b.txt"
args.n = "-12"
args.m = ["1e2", "100"]
args.ok = "true"
args."a.b" = "1\n\r\t\U0000202Eé\\"
where.path.type = "string"
where.n.type = "number"
where.m.type = "number"
where.ok.type = "boolean"
where."a.b".type = "string"
`},
		{"conditions are kept in the exact values", "tool = '**'\nargs.path = ['/q/**', '/p/**']", Exact, tool(`{"path":"/p/x"}`), head + "args.path = \"/p/x\"\nwhere.path.type = \"string\"\n"},
		{"a type that is kept", "tool = '**'\nwhere.n.type = 'integer'", Exact, tool(`{"n":1}`), head + "args.n = \"1\"\nwhere.n.type = \"integer\"\n"},
		{"no arguments", "prompt = '*'\nserver = 'g*'", Exact, Call{Server: "git", Subject: PromptSubject, Names: []string{"review"}},
			"action = \"allow\"\nprompt = \"review\"\nserver = \"git\"\n"},
		{"a prompt", "prompt = '*'\nargs.lang = ['go', 'c*']", Tool, Call{Subject: PromptSubject, Names: []string{"review"}, Args: []byte(`{"lang":"c++","of":"x"}`)},
			"action = \"allow\"\nprompt = \"review\"\nargs.lang = [\"go\", \"c*\"]\n"},
		{"a resource", "resource = 'file:///**'", Exact, Call{Subject: ResourceSubject, Names: []string{"file:///p/x"}},
			"action = \"allow\"\nresource = \"file:///p/x\"\n"},
		{"resources of a folder", "resource = '**'", Folder, Call{Subject: ResourceSubject, Names: []string{"file:///srv/p/x?y#z"}},
			"action = \"allow\"\nresource = \"file:///srv/p/**\"\n"},
		{"resources as far as the rule goes", "resource = 'note://a/b/*'", Folder, Call{Subject: ResourceSubject, Names: []string{"note://a/b/c"}},
			"action = \"allow\"\nresource = \"note://a/b/*\"\n"},
		{"a text", "sampling = '**'", Exact, Call{Subject: SamplingSubject, Names: []string{"hello"}},
			"action = \"allow\"\nsampling = \"hello\"\n"},
		{"a folder", "tool = '**'", Folder, tool(`{"path":"/srv/p/x","content":"y","n":["a"],"o":{"p":1}}`), head + "args.path = \"/srv/p/**\"\n"},
		{"two folders", "tool = '**'", Folder, tool(`{"from":"~/p/x","to":"https://h/a/b?c"}`), head + "args.from = \"~/p/**\"\nargs.to = \"https://h/a/**\"\n"},
		{"a file", "tool = '**'", File, tool(`{"path":"/srv/p/x","content":"y","n":["a"],"o":{"p":1}}`), head + "args.path = \"/srv/p/x\"\nwhere.path.type = \"string\"\n"},
		{"two files", "tool = '**'\nargs.to = '/srv/**'", File, tool(`{"from":"~/p/x","to":"/srv/a"}`),
			head + "args.from = \"~/p/x\"\nargs.to = \"/srv/a\"\nwhere.from.type = \"string\"\nwhere.to.type = \"string\"\n"},
		{"a list of files", "tool = '**'", File, tool(`{"paths":["/srv/p/x","/srv/q/y"]}`), head + "args.paths = [\"/srv/p/x\", \"/srv/q/y\"]\n"},
		{"a resource's file", "resource = '**'", File, Call{Subject: ResourceSubject, Names: []string{"file:///p/x"}},
			"action = \"allow\"\nresource = \"file:///p/x\"\n"},
		{"a relative path", "tool = '**'\nargs.path = 'src/**'", Folder, tool(`{"path":"src/p/x","content":"</b>"}`), head + "args.path = \"src/p/**\"\n"},
		{"a list of paths", "tool = '**'", Folder, tool(`{"paths":["/srv/p/x","/srv/q/y","/srv/p/z"]}`), head + "args.paths = [\"/srv/p/**\", \"/srv/q/**\"]\n"},
		{"a folder inside the rule's", "tool='**'\nargs.path='~/**'\nargs.mode=['a','b']", Folder, tool(`{"path":"/home/user/p/x","mode":"b"}`),
			head + "args.path = \"/home/user/p/**\"\nargs.mode = [\"a\", \"b\"]\n"},
		{"a folder around the rule's", "tool='**'\nargs.path=['/srv/p/*.txt','/srv/p/*.md','/etc/**']", Folder, tool(`{"path":"/srv/p/x.md"}`),
			head + "args.path = [\"/srv/p/*.txt\", \"/srv/p/*.md\"]\n"},
		{"the tool", "tool = '*'\nargs.path = ['/p/**', '~/**']\nargs.o.x = 'y'", Tool, tool(`{"path":"/p/x","o":{"x":"y"},"content":""}`),
			head + "args.path = [\"/p/**\", \"~/**\"]\nargs.o.x = \"y\"\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := mustLoad(t, "[[rule]]\naction = 'prompt'\n"+c.rule)
			n, err := p.NarrowRule(p.Rules()[0], &c.call, c.scope, Allow)
			if err != nil {
				t.Fatal(err)
			}
			if want := "[[rule]]\n" + c.want; n.Text != want {
				t.Errorf("wrote\n%s\nwant\n%s", n.Text, want)
			}
			d, err := p.NarrowRule(p.Rules()[0], &c.call, c.scope, Deny)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Replace(n.Text, "allow", "deny", 1)
			if !strings.Contains(c.rule, "where") { // a deny is not kept to one type
				want = typeLine.ReplaceAllString(want, "")
			}
			if d.Text != want {
				t.Errorf("wrote\n%s\nwant\n%s", d.Text, want)
			}
			if d.Policy.Decide(&c.call).Action != Deny || n.Policy.Decide(&c.call).Action != Allow {
				t.Error("the policies it gives are others")
			}
		})
	}
}

var typeLine = regexp.MustCompile(`(?m)^where\.(\S+)\.type = .*\n`)

// An exact rule that allows means the value as JSON has it, one that denies
// every value that a server could take for it.
func TestNarrowExactlyKeepsTheType(t *testing.T) {
	call := func(value string) *Call {
		return &Call{Subject: ToolSubject, Names: []string{"t"}, Args: []byte(`{"x":` + value + `}`)}
	}
	for value, others := range map[string][]string{
		`1`:      {`"1"`, `[1]`, `["1"]`, `true`},
		`"1"`:    {`1`, `["1"]`, `1.0`},
		`true`:   {`"true"`, `[true]`},
		`"true"`: {`true`},
		`"abc"`:  {`["abc"]`, `["abc","abc"]`},
		`1e2`:    {`"100"`, `"1e2"`},
	} {
		p := mustLoad(t, "[[rule]]\naction = 'prompt'\ntool = '*'")
		allow, err := p.NarrowRule(p.Rules()[0], call(value), Exact, Allow)
		if err != nil {
			t.Fatal(err)
		}
		deny, err := p.NarrowRule(p.Rules()[0], call(value), Exact, Deny)
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range others {
			if d := allow.Policy.Decide(call(other)); d.Action != Prompt {
				t.Errorf("the rule about %s says %v to %s", value, d.Action, other)
			}
			if d := deny.Policy.Decide(call(other)); value == `1` && other == `"1"` && d.Action != Deny {
				t.Errorf("the denying rule about %s says %v to %s", value, d.Action, other)
			}
		}
		if d := allow.Policy.Decide(call(value)); d.Action != Allow {
			t.Errorf("%s: %v", value, d.Action)
		}
	}
}

// An allow names what would keep it shut for the very call, and nothing more.
func TestNarrowNamesFurtherArguments(t *testing.T) {
	call := toolCall("w", `{"path":"/srv/p/x","content":"y","o":{"p":["/q","/q","/r"],"n":"x"},"cwd":"x"}`)
	const named = "args.o.p = [\"/q\", \"/r\"]\nargs.cwd = \"x\"\n"
	for _, c := range []struct {
		rule  string
		scope Scope
		want  string
		open  []string
	}{
		{"args.path='/srv/**'", Folder, "args.path = \"/srv/p/**\"\n" + named, []string{"content"}},
		{"args.path='/srv/**'", Tool, "args.path = \"/srv/**\"\n" + named, []string{"content"}},
		{"where.cwd.present=true", Tool, "args.path = \"/srv/p/x\"\nargs.o.p = [\"/q\", \"/r\"]\nwhere.cwd.present = true\n", []string{"content", "cwd"}},
		{"where.x.present=false\nargs_only=['path','content','o','cwd']", Tool, "where.x.present = false\nargs_only = [\"path\", \"content\", \"o\", \"cwd\"]\n", []string{"path", "content", "o", "cwd"}},
		{"", Tool, "", []string{"path", "content", "o", "cwd"}},
	} {
		p := mustLoad(t, "[[rule]]\naction='prompt'\ntool='w'\n"+c.rule)
		n, err := p.NarrowRule(p.Rules()[0], call, c.scope, Allow)
		if err != nil {
			t.Fatal(err)
		}
		if want := "[[rule]]\naction = \"allow\"\ntool = \"w\"\n" + c.want; n.Text != want || !slices.Equal(n.Open, c.open) {
			t.Errorf("wrote\n%s\nwant\n%s\nopen are %q", n.Text, want, n.Open)
		}
		d, err := p.NarrowRule(p.Rules()[0], call, c.scope, Deny)
		if err != nil || strings.Contains(d.Text, "cwd = ") {
			t.Errorf("%v: a denial names what it need not: %s", err, d.Text)
		}
		other := toolCall("w", strings.Replace(string(call.Args), `"cwd":"x"`, `"cwd":"y"`, 1))
		if got := n.Policy.Decide(other).Action; c.want != "" && got == Allow && !strings.Contains(c.want, "present") {
			t.Errorf("%s opens %s", n.Text, other.Args)
		}
	}
	p := mustLoad(t, "[[rule]]\naction='prompt'\ntool='w'\nargs.path='/srv/**'")
	for args, want := range map[string]string{
		`{"path":"/srv/p/x","cwd":"*"}`:                 `argument "cwd" holds "*"`,
		`{"path":"/srv/p/x","x":"{\"path\":\"/e*\"}"}`:  `argument "x" holds "*"`,
		`{"path":"/srv/p/x","o":{"p":{"dir":["/q?"]}}}`: `argument "dir" holds "?"`,
	} {
		if _, err := p.NarrowRule(p.Rules()[0], toolCall("w", args), Tool, Allow); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// What args_only lists is told, and whether it stands there.
func TestNarrowTellsFurtherArguments(t *testing.T) {
	for rule, want := range map[string][]string{"": nil, "\nargs_only=true": {}, "\nargs_only=['path','mode']": {"path", "mode"}} {
		p := mustLoad(t, "[[rule]]\naction='prompt'\ntool='w'\nargs.path='/srv/**'"+rule)
		n, err := p.NarrowRule(p.Rules()[0], toolCall("w", `{"path":"/srv/p/x"}`), Tool, Allow)
		if err != nil {
			t.Fatal(err)
		}
		if names, only := n.ArgsOnlyNames(); !slices.Equal(names, want) || only != (want != nil) {
			t.Errorf("%q: %q, %v", rule, names, only)
		}
	}
}

// What stays open is said.
func TestNarrowTells(t *testing.T) {
	p := mustLoad(t, "[[rule]]\naction='prompt'\ntool='*'\nargs.mode='x'\nargs.o.p='1'\nargs.dir='/srv/a/*'")
	call := Call{Server: "fs", Subject: ToolSubject, Names: []string{"t"},
		Args: []byte(`{"a.b":"text","path":"/srv/q/x","mode":"x","o":{"p":1,"q":2},"dir":"/srv/a/b","n":2}`)}
	n, err := p.NarrowRule(p.Rules()[0], &call, Folder, Allow)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&Narrowed{
		Text: n.Text, Policy: n.Policy, Name: "t", Server: "fs", Open: []string{`"a.b"`, "n"},
		Limits: []Limit{
			{[]string{"path"}, []string{"/srv/q/**"}}, {[]string{"dir"}, []string{"/srv/a/*"}},
			{[]string{"mode"}, []string{"x"}}, {[]string{"o", "p"}, []string{"1"}},
		},
	}, n, cmp.Comparer(func(a, b *Policy) bool { return a == b }), cmpopts.IgnoreUnexported(Narrowed{})); diff != "" {
		t.Error(diff)
	}
	if got := n.Limits[3].ArgumentName(); got != "o.p" {
		t.Errorf("the last is called %q", got)
	}
}

func TestNarrowRefuses(t *testing.T) {
	args := func(s string) Call {
		return Call{Subject: ToolSubject, Names: []string{"t"}, Args: []byte(s)}
	}
	resource := func(s string) Call { return Call{Subject: ResourceSubject, Names: []string{s}} }
	for _, c := range []struct {
		name, rule string
		scope      Scope
		call       Call
		want       string
	}{
		{"star", "tool='**'", Exact, args(`{"path":"/p/*"}`), `argument "path" holds "*", which a pattern takes for any text`},
		{"question mark", "tool='**'", Exact, args(`{"q":"why?"}`), `argument "q" holds "?"`},
		{"empty text", "tool='**'", Exact, args(`{"q":""}`), `argument "q" is empty`},
		{"null", "tool='**'", Exact, args(`{"q":null}`), `argument "q" is null`},
		{"list", "tool='**'", Exact, args(`{"q":["a"]}`), `argument "q" is a list`},
		{"object", "tool='**'", Exact, args(`{"q\u0007":{}}`), `argument "q\a" is an object`},
		{"long", "tool='**'", Exact, args(`{"q":"` + strings.Repeat("x", 5000) + `"}`), `argument "q" is 5000 bytes long`},
		{"not JSON", "tool='**'", Exact, args(`{"q":"a"`), `the arguments cannot be read`},
		{"not JSON in a list", "tool='**'", Tool, args(`{"q":["a}`), `the arguments cannot be read`},
		{"twice", "tool='**'", Exact, args(`{"q":"a","q":"b"}`), `the rule cannot be written: always:5:1: args.q is given twice`},
		{"other reading", "tool='**'", Exact, args(`{"path":"/p/../q"}`), `a server may read the call in another way, which no such rule allows: "/q"`},
		{"refused reading", "tool='**'", Exact, args(`{"path":"/p/\u0000"}`), `no such rule allows: NUL in a value`},
		{"another rule", "tool='**'\n[[rule]]\naction='prompt'\ntool='a'", Exact, Call{Subject: ToolSubject, Names: []string{"a"}}, `the rule on line 1 would still say prompt`},
		{"tool name", "tool='**'", Tool, Call{Subject: ToolSubject, Names: []string{"a*"}}, `the tool holds "*"`},
		{"server name", "tool='**'", Tool, Call{Server: "?", Subject: ToolSubject, Names: []string{"a"}}, `the server's name holds "?"`},
		{"unknown server", "tool='**'\nserver='x'", Tool, Call{Subject: ToolSubject, Names: []string{"a"}}, `this server's name is not known`},
		{"several", "sampling='**'", Exact, Call{Subject: SamplingSubject, Names: []string{"a", "b"}}, `the call has 2 texts`},
		{"other subject", "prompt='**'", Exact, Call{Subject: ToolSubject, Names: []string{"a"}}, `the rule did not ask about this call`},
		{"no method rule opens", "method='x/*'", Exact, Call{Subject: MethodSubject, Names: []string{"x/y"}, Malformed: "why"}, `no such rule allows: why`},
		{"a wider text", "sampling='**'", Tool, Call{Subject: SamplingSubject, Names: []string{"a"}}, `there is no tool to widen sampling to`},
		{"a prompt's folder", "prompt='**'", Folder, Call{Subject: PromptSubject, Names: []string{"a/b"}}, `a prompt has no folder`},
		{"a prompt's file", "prompt='**'", File, Call{Subject: PromptSubject, Names: []string{"a/b"}}, `a prompt has no file`},
		{"no file", "tool='**'", File, args(`{"q":"a","n":1}`), `no argument names a file`},
		{"a file no pattern names", "tool='**'", File, args(`{"p":"/srv/p/a*b"}`), `argument "p" holds "*"`},
		{"a resource's tool", "resource='**'", Tool, resource("file:///p/x"), `a resource belongs to no tool`},
		{"a resource's star", "resource='**'", Exact, resource("file:///p/*"), `the resource holds "*"`},
		{"a resource without a folder", "resource='**'", Folder, resource("note:x"), `the resource names no folder`},
		{"a resource beside the rule", "resource='**/x'", Folder, resource("/srv/p/x"), `no single pattern covers "/srv/p/**" and keeps to the rule's "**/x"`},
		{"a resource beside a list", "resource=['/srv/p/a', '/srv/p/b']", Folder, resource("/srv/p/a"), `no single pattern covers "/srv/p/**" and keeps to the rule's "/srv/p/a", "/srv/p/b"`},
		{"no folder", "tool='**'", Folder, args(`{"q":"a","paths":["/p/x",1],"list":[]}`), `no argument names a folder`},
		{"a folder beside the rule", "tool='**'\nargs.p='**/x'", Folder, args(`{"p":"/srv/p/x"}`), `no single pattern keeps argument "p" to ["/srv/p/**"] and to the condition of the rule`},
	} {
		p := mustLoad(t, "[[rule]]\naction = 'prompt'\n"+c.rule)
		n, err := p.NarrowRule(p.Rules()[len(p.Rules())-1], &c.call, c.scope, Allow)
		if err == nil || !strings.Contains(err.Error(), c.want) || n != nil {
			t.Errorf("%s: %+v, %v; want %q", c.name, n, err, c.want)
		}
	}
}

// A call of a server whose name is not known can be denied by the rule's own
// condition on it.
func TestNarrowDeniesAnUnknownServer(t *testing.T) {
	p := mustLoad(t, "[[rule]]\naction='prompt'\ntool='**'\nserver='x*'\n[[rule]]\naction='allow'\ntool='*'")
	n, err := p.NarrowRule(p.Rules()[0], &Call{Subject: ToolSubject, Names: []string{"a"}}, Tool, Deny)
	if err != nil || n.Server != "x*" {
		t.Errorf("%+v, %v", n, err)
	}
}

func TestNarrowKnowsItsRules(t *testing.T) {
	p := mustLoad(t, "[[rule]]\naction='deny'\ntool='t'\n[[rule]]\naction='prompt'\ntool='*'")
	call := Call{Subject: ToolSubject, Names: []string{"t"}}
	moved := p.Rules()[0]
	moved.Pos.Line++
	for want, r := range map[string]Rule{
		"did not ask":       p.Rules()[0],
		"not one of this":   moved,
		"allows or denies":  p.Rules()[1],
		"not one of this p": {Index: -1},
	} {
		if _, err := p.NarrowRule(r, &call, Exact, Prompt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for _, index := range []int{-1, 2} {
		if _, err := p.NarrowRule(Rule{Index: index}, &call, Exact, Allow); err == nil {
			t.Errorf("index %d is taken", index)
		}
	}
	if _, err := new(Policy).NarrowRule(Rule{}, &call, Exact, Allow); err == nil {
		t.Error("an empty policy has a rule")
	}
}

func TestScopeWords(t *testing.T) {
	for _, s := range AllScopes() {
		if got, err := ParseScope(s.String()); err != nil || got != s {
			t.Errorf("%v, %v, want %v", got, err, s)
		}
	}
	if s, err := ParseScope("all"); err == nil || s != Exact || !strings.Contains(err.Error(), "exact, file, folder, tool") {
		t.Errorf("%v, %v", s, err)
	}
	if got := Scope(7).String(); got != "Scope(7)" {
		t.Error(got)
	}
}

func TestNarrowNamesNoLongFolder(t *testing.T) {
	n := narrower{home: home}
	for size, want := range map[int]bool{maxLiteral: true, maxLiteral + 1: false} {
		if got, found := n.folderGlob("/a/"+strings.Repeat("b", size-len("/a/")), true); found != want {
			t.Errorf("%d bytes: %q", size, got)
		}
	}
}

// A rule about several names asked; the one that is written is about the call's own.
func TestNarrowTakesTheNameOutOfAList(t *testing.T) {
	p := mustLoad(t, "[[rule]]\naction='prompt'\ntool=['a', 'b*']\nserver=['s', 't-*']\n[[rule]]\naction='allow'\ntool='*'")
	call := Call{Server: "t-1", Subject: ToolSubject, Names: []string{"b2"}}
	n, err := p.NarrowRule(p.Rules()[0], &call, Exact, Allow)
	if err != nil || n.Name != "b2" || n.Server != "t-1" || !strings.Contains(n.Text, "tool = \"b2\"\nserver = \"t-1\"\n") {
		t.Errorf("%+v, %v", n, err)
	}
	call.Server = ""
	n, err = p.NarrowRule(p.Rules()[0], &call, Exact, Deny)
	if err != nil || n.Server != "s, t-*" || !strings.Contains(n.Text, "server = [\"s\", \"t-*\"]\n") {
		t.Errorf("%+v, %v", n, err)
	}
}

// The rule that an answer writes keeps every condition of the one that asked.
func TestNarrowKeepsConditions(t *testing.T) {
	src := "[[rule]]\naction = \"prompt\"\ntool = \"*\"\nargs.a = \"/p/**\"\nwhere.a.max_length = 20\nwhere.n.min = 3\nwhen = { from = \"09:00\", zone = \"UTC\" }\nlimit = \"20/min\"\n"
	p := mustLoad(t, src)
	call := toolCall("t", `{"a":"/p/x","n":3}`)
	call.At = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for a, limit := range map[Action]string{Allow: "limit = \"20/min\"\n", Deny: ""} {
		n, err := p.NarrowRule(p.Rules()[0], call, Folder, a)
		if err != nil {
			t.Fatal(err)
		}
		want := "args.a = \"/p/*\"\nwhere.a.max_length = 20\nwhere.n.min = 3\nwhen = { from = \"09:00\", zone = \"UTC\" }\n" + limit
		if !strings.Contains(n.Text, want) {
			t.Errorf("wrote\n%s\nwithout\n%s", n.Text, want)
		}
		later := *call
		later.At = call.At.Add(20 * time.Hour)
		if d := n.Policy.Decide(&later); d.Action != Deny || d.Rule != nil {
			t.Errorf("%v at another time: %+v", a, d)
		}
		if d := n.Policy.Decide(&Call{Subject: ToolSubject, Names: call.Names, Args: []byte(`{"a":"/p/x","n":2}`), Facts: Facts{At: call.At}}); d.Rule != nil {
			t.Errorf("%v for other arguments: %+v", a, d)
		}
	}
}

func TestNarrowRefusesPinned(t *testing.T) {
	p := mustLoad(t, "[[rule]]\naction = \"prompt\"\ntool = \"*\"\npinned = true\n")
	for _, s := range AllScopes() {
		_, err := p.NarrowRule(p.Rules()[0], toolCall("t", `{"path":"/a/b"}`), s, Allow)
		if err == nil || err.Error() != "the rule on line 1 is pinned: it asks every time, and no answer is kept as a rule" {
			t.Errorf("%v: %v", s, err)
		}
	}
}

// "This file, any content" is this file in every reading of a call, and no other.
func TestNarrowToAFileIsThatFile(t *testing.T) {
	p := mustLoad(t, "[[rule]]\naction='prompt'\ntool='w'")
	n, err := p.NarrowRule(p.Rules()[0], toolCall("w", `{"path":"/srv/p/x","content":"y"}`), File, Allow)
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]Action{
		`{"path":"/srv/p/x","content":"z"}`:            Allow,
		`{"path":"/srv/p/x","content":"z","dry":true}`: Allow,
		`{"path":"/srv/p/x"}`:                          Allow,
		`{"path":"/srv/p/y","content":"y"}`:            Prompt,
		`{"path":"/srv/p/x/","content":"y"}`:           Prompt,
		`{"path":"/srv/p/x/../y","content":"y"}`:       Prompt,
		`{"path":"/srv/p/y/../x","content":"y"}`:       Prompt,
		`{"path":"/SRV/p/X","content":"y"}`:            Prompt,
		`{"path":"/srv/p/%78","content":"y"}`:          Prompt,
		`{"path":"file:///srv/p/x","content":"y"}`:     Allow, // the same file
		`{"path":"file://h/srv/p/x","content":"y"}`:    Prompt,
		`{"path":["/srv/p/x"],"content":"y"}`:          Prompt,
		`{"path":"[\"/srv/p/x\"]","content":"y"}`:      Prompt,
		`{"path":"/srv/p/x\u0000","content":"y"}`:      Prompt,
		`{"Path":"/srv/p/x","content":"y"}`:            Prompt,
		`{"path":"/srv/p/x","destination":"/srv/p/y"}`: Prompt,
		`{"content":"y"}`:                              Prompt,
	} {
		if got := n.Policy.Decide(toolCall("w", args)); got.Action != want {
			t.Errorf("%s: %v (%s %s)", args, got.Action, got.Reason, got.Reading)
		}
	}
}

// A rule that was described by another, or by nobody, says what it allows.
func TestNarrowedIsDescribed(t *testing.T) {
	p := mustLoad(t, "[[rule]]\naction='prompt'\ntool='w'\ndescription='Ask'")
	n, err := p.NarrowRule(p.Rules()[0], toolCall("w", `{}`), Tool, Allow)
	if err != nil {
		t.Fatal(err)
	}
	const bare = "[[rule]]\naction = \"allow\"\ntool = \"w\"\n"
	if n.Text != bare {
		t.Error(n.Text)
	}
	if n.SetDescription("Call \"w\""); n.Text != bare+"description = \"Call \\\"w\\\"\"\n" {
		t.Error(n.Text)
	}
}
