package policy

import (
	"strings"
	"testing"
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
	for _, c := range []struct {
		name, rule string
		call       Call
		want       string
	}{
		{"a tool", "tool = 'write_*'\ndescription = 'Ask \"first\"'",
			Call{Server: "fs", Subject: ToolSubject, Names: []string{"write_file"}, Args: []byte(` {"path": "/p/a b.txt", "n": -12, "m": 1e2, "ok": true, "a.b": "1\n\r\t\u202e\u00e9\\"} `)},
			`# Written after the answer "always". Arguments it does not name stay open.
[[rule]]
action = "allow"
tool = "write_file"
server = "fs"
args.path = "/p/a b.txt"
args.n = "-12"
args.m = ["1e2", "100"]
args.ok = "true"
args."a.b" = "1\n\r\t\U0000202Eé\\"
description = "Always: Ask \"first\""
`},
		{"conditions are kept in the exact values", "tool = '**'\nargs.path = ['/q/**', '/p/**']",
			Call{Subject: ToolSubject, Names: []string{"x/y"}, Args: []byte(`{"path":"/p/x"}`)},
			`# Written after the answer "always". Arguments it does not name stay open.
[[rule]]
action = "allow"
tool = "x/y"
args.path = "/p/x"
`},
		{"no arguments", "prompt = '*'\nserver = 'g*'",
			Call{Server: "git", Subject: PromptSubject, Names: []string{"review"}},
			`# Written after the answer "always". Arguments it does not name stay open.
[[rule]]
action = "allow"
prompt = "review"
server = "git"
`},
		{"a resource", "resource = 'file:///**'",
			Call{Subject: ResourceSubject, Names: []string{"file:///p/x"}},
			`# Written after the answer "always".
[[rule]]
action = "allow"
resource = "file:///p/x"
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := mustLoad(t, "[[rule]]\naction = 'prompt'\n"+c.rule)
			text, err := p.Narrow(p.Rules()[0], &c.call)
			if err != nil {
				t.Fatal(err)
			}
			if text != c.want {
				t.Errorf("wrote\n%s\nwant\n%s", text, c.want)
			}
		})
	}
}

func TestNarrowRefuses(t *testing.T) {
	args := func(s string) Call {
		return Call{Subject: ToolSubject, Names: []string{"t"}, Args: []byte(s)}
	}
	for _, c := range []struct {
		name, rule string
		call       Call
		want       string
	}{
		{"star", "tool='**'", args(`{"path":"/p/*"}`), `argument "path" holds "*", which a pattern takes for any text`},
		{"question mark", "tool='**'", args(`{"q":"why?"}`), `argument "q" holds "?"`},
		{"empty text", "tool='**'", args(`{"q":""}`), `argument "q" is empty`},
		{"null", "tool='**'", args(`{"q":null}`), `argument "q" is null`},
		{"list", "tool='**'", args(`{"q":["a"]}`), `argument "q" is a list`},
		{"object", "tool='**'", args(`{"q\u0007":{}}`), `argument "q\a" is an object`},
		{"long", "tool='**'", args(`{"q":"` + strings.Repeat("x", 5000) + `"}`), `argument "q" is 5000 bytes long`},
		{"not JSON", "tool='**'", args(`{"q":"a"`), `the arguments cannot be read`},
		{"twice", "tool='**'", args(`{"q":"a","q":"b"}`), `the rule cannot be written: always:6:1: args.q is given twice`},
		{"other reading", "tool='**'", args(`{"path":"/p/../q"}`), `a server may read the call in another way, which no exact rule allows: "/q"`},
		{"refused reading", "tool='**'", args(`{"path":"/p/\u0000"}`), `no exact rule allows: NUL in a value`},
		{"another rule", "tool='**'\n[[rule]]\naction='prompt'\ntool='a'", Call{Subject: ToolSubject, Names: []string{"a"}}, `the rule on line 1 would still say prompt`},
		{"tool name", "tool='**'", Call{Subject: ToolSubject, Names: []string{"a*"}}, `the tool holds "*"`},
		{"server name", "tool='**'", Call{Server: "?", Subject: ToolSubject, Names: []string{"a"}}, `the server's name holds "?"`},
		{"unknown server", "tool='**'\nserver='x'", Call{Subject: ToolSubject, Names: []string{"a"}}, `this server's name is not known`},
		{"several", "sampling='**'", Call{Subject: SamplingSubject, Names: []string{"a", "b"}}, `the call has 2 texts`},
		{"other subject", "prompt='**'", Call{Subject: ToolSubject, Names: []string{"a"}}, `the rule did not ask about this call`},
		{"no method rule opens", "method='x/*'", Call{Subject: MethodSubject, Names: []string{"x/y"}, Malformed: "why"}, `no exact rule allows: why`},
	} {
		p := mustLoad(t, "[[rule]]\naction = 'prompt'\n"+c.rule)
		text, err := p.Narrow(p.Rules()[len(p.Rules())-1], &c.call)
		if err == nil || !strings.Contains(err.Error(), c.want) || text != "" {
			t.Errorf("%s: %q, %v; want %q", c.name, text, err, c.want)
		}
	}
}

func TestNarrowKnowsItsRules(t *testing.T) {
	p := mustLoad(t, "[[rule]]\naction='deny'\ntool='t'")
	call := Call{Subject: ToolSubject, Names: []string{"t"}}
	moved := p.Rules()[0]
	moved.Pos.Line++
	for want, r := range map[string]Rule{
		"did not ask":     p.Rules()[0],
		"not one of this": moved,
	} {
		if _, err := p.Narrow(r, &call); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for _, index := range []int{-1, 1} {
		if _, err := p.Narrow(Rule{Index: index}, &call); err == nil {
			t.Errorf("index %d is taken", index)
		}
	}
	if _, err := new(Policy).Narrow(Rule{}, &call); err == nil {
		t.Error("an empty policy has a rule")
	}
}
