package policy

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func str(s string) *string { return &s }

// summary is a rule without its places.
type summary struct {
	Action      Action
	Description string
	Subject     Subject
	Pattern     string
	Server      *string
	Args        map[string][]string
}

func summarise(rules []ruleSource) []summary {
	var out []summary
	for _, r := range rules {
		s := summary{r.Action, r.Description, r.subject, strings.Join(r.patterns, " "), r.server(), nil}
		for _, a := range r.args {
			if s.Args == nil {
				s.Args = map[string][]string{}
			}
			s.Args[argName(a.path)] = a.globs
		}
		out = append(out, s)
	}
	return out
}

func TestParseSourceReads(t *testing.T) {
	path := func(globs ...string) map[string][]string { return map[string][]string{"args.path": globs} }
	for _, c := range []struct {
		name, src string
		want      []summary
	}{
		{"nothing", "", nil},
		{"only a comment", "# everything is denied\n", nil},
		{"every key", `
[[rule]]
action = "prompt"
tool = "filesystem_*"
server = "fs"
args.path = "/etc/**"
description = "Ask first"
`, []summary{{Prompt, "Ask first", ToolSubject, "filesystem_*", str("fs"), path("/etc/**")}}},
		{"every subject", `
[[rule]]
action = "allow"
resource = "file:///**"
[[rule]]
action = "allow"
prompt = "review"
args.path = "x"
[[rule]]
action = "deny"
sampling = "**"
[[rule]]
action = "deny"
elicitation = "**password**"
[[rule]]
action = "deny"
method = "tasks/*"
`, []summary{
			{Allow, "", ResourceSubject, "file:///**", nil, nil},
			{Allow, "", PromptSubject, "review", nil, path("x")},
			{Deny, "", SamplingSubject, "**", nil, nil},
			{Deny, "", ElicitationSubject, "**password**", nil, nil},
			{Deny, "", MethodSubject, "tasks/*", nil, nil},
		}},
		{"lists", "[[rule]]\naction='deny'\ntool='t'\nargs.path=['a', # one\n 'b',]\n", []summary{{Deny, "", ToolSubject, "t", nil, path("a", "b")}}},
		{"dotted, quoted, inline", `
[[rule]]
action = "allow"
tool = "t"
args.a.b = "1"
args."a.b" = "2"
args.'ü "' = "3"
args.c = { d = "4", e.f = ["5"], g = { h = "6" } }
args."" = "7"
`, []summary{{Allow, "", ToolSubject, "t", nil, map[string][]string{
			"args.a.b": {"1"}, `args."a.b"`: {"2"}, `args."ü \""`: {"3"},
			"args.c.d": {"4"}, "args.c.e.f": {"5"}, "args.c.g.h": {"6"}, `args.""`: {"7"},
		}}}},
		{"inline args", "[[rule]]\naction='allow'\ntool='t'\nargs = {path='x'}\n", []summary{{Allow, "", ToolSubject, "t", nil, path("x")}}},
		{"tables of args", `
[[rule]]
action = "allow"
tool = "t"
[rule.args]
path = "x"
[rule.args.deep]
y.z = "1"
[[rule]]
action = "deny"
tool = "*"
`, []summary{
			{Allow, "", ToolSubject, "t", nil, map[string][]string{"args.path": {"x"}, "args.deep.y.z": {"1"}}},
			{Deny, "", ToolSubject, "*", nil, nil},
		}},
		{"CRLF, tabs, quoted keys, escapes", "[[ \"rule\" ]]\r\n\t\"action\" = \"allow\" # yes\r\n\ttool = \"\\u0061\\\\b\"\r\n", []summary{{Allow, "", ToolSubject, `a\b`, nil, nil}}},
		{"multi-line description", "[[rule]]\naction='deny'\ntool='t'\ndescription='''\n[[rule]]\n# no'''", []summary{{Deny, "[[rule]]\n# no", ToolSubject, "t", nil, nil}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules, errs := parseSource("p.toml", []byte(c.src))
			if errs != nil {
				t.Fatal(errs)
			}
			if diff := cmp.Diff(c.want, summarise(rules)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseSourcePlaces(t *testing.T) {
	src := "# é\n  [[rule]] # one\naction='allow'\nargs.a='x'\nprompt='p' # end\n\n[[rule]]\naction='deny'\ntool='*'\n[rule.args]\n\tx=['1']\n# tail\n"
	rules, errs := parseSource("p.toml", []byte(src))
	if errs != nil {
		t.Fatal(errs)
	}
	if want := (Position{"p.toml", 2, 3}); rules[0].Pos != want || rules[0].Index != 0 {
		t.Errorf("first rule at %v, index %d", rules[0].Pos, rules[0].Index)
	}
	if want := (Position{"p.toml", 4, 1}); rules[0].args[0].pos != want {
		t.Errorf("argument at %v", rules[0].args[0].pos)
	}
	if want := (Position{"p.toml", 11, 2}); rules[1].args[0].pos != want || rules[1].Index != 1 {
		t.Errorf("second argument at %v, index %d", rules[1].args[0].pos, rules[1].Index)
	}
	for i, want := range []string{
		"[[rule]] # one\naction='allow'\nargs.a='x'\nprompt='p'",
		"[[rule]]\naction='deny'\ntool='*'\n[rule.args]\n\tx=['1']",
	} {
		if got := src[rules[i].start:rules[i].end]; got != want {
			t.Errorf("rule %d spans %q, want %q", i, got, want)
		}
	}
}

// rule is a good rule with something added.
func ruleWith(lines string) string {
	return "[[rule]]\naction = \"allow\"\ntool = \"t\"\n" + lines + "\n"
}

func TestParseSourceRefuses(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"unknown key", ruleWith(`acton = "deny"`), `4:1: unknown key "acton" (did you mean "action"?)`},
		{"key of another case", ruleWith(`Tool = "x"`), `4:1: unknown key "Tool" (did you mean "tool"?)`},
		{"swapped letters", ruleWith(`agrs.path = "x"`), `4:1: unknown key "agrs" (did you mean "args"?)`},
		{"shortened key", ruleWith(`desc = "x"`), `4:1: unknown key "desc" (did you mean "description"?)`},
		{"far key", ruleWith(`"x\u202ey" = "x"`), `4:1: unknown key "x\u202ey" (a rule has action, tool, resource, prompt, sampling, elicitation, method, args, where, args_only, args_open, not, server, when, annotations, find, limit, ask, pinned, description, on, after, cwd, above, preview, approvers, approvals, not_self, who, role, group, env, agent)`},
		{"empty key", ruleWith(`"" = "x"`), `4:1: unknown key "" (a rule has action, tool, resource, prompt, sampling, elicitation, method, args, where, args_only, args_open, not, server, when, annotations, find, limit, ask, pinned, description, on, after, cwd, above, preview, approvers, approvals, not_self, who, role, group, env, agent)`},
		{"one slip is one finding", "[[rule]]\nactoin='allow'\ntol='x'", "2:1: unknown key \"actoin\" (did you mean \"action\"?)\n3:1: unknown key \"tol\" (did you mean \"tool\"?)"},
		{"unknown action", "[[rule]]\naction = \"Alow\"\ntool='t'", `2:10: unknown action "Alow" (did you mean "allow"?)`},
		{"far action", "[[rule]]\naction = \"yes\"\ntool='t'", `2:10: unknown action "yes" (one of allow, deny, prompt)`},
		{"action of a wrong type", "[[rule]]\naction = true\ntool='t'", `2:10: action must be a string, not a boolean (one of allow, deny, prompt)`},
		{"action is a table", "[[rule]]\naction.x = 'allow'\ntool='t'", `2:1: action must be a string, not a table`},
		{"tool is a table", "[[rule]]\ntool.x = 'y'\naction='allow'", `2:1: tool must be a string, not a table`},
		{"tool is an inline table", "[[rule]]\ntool = {x='y'}\naction='allow'", `2:8: tool must be a glob or a list of globs, not a table`},
		{"tool is an empty list", "[[rule]]\ntool = []\naction='allow'", `2:1: tool is an empty list (no value would match)`},
		{"tool is a list of other things", "[[rule]]\ntool = ['x', 1, ['y'], '']\naction='allow'", "2:1: tool must be a string, not a list\n2:14: tool must be a string, not a number\n2:24: tool: empty pattern (\"*\" is any text without a \"/\", \"**\" any text)"},
		{"server is a number", ruleWith("server = 1"), `4:10: server must be a glob or a list of globs, not a number (a number or boolean is matched by its text: server = "1")`},
		{"a star below an argument", ruleWith("args.o.'*' = 'x'"), "4:1: args.o.\"*\" has a \"*\" beside other names (\"*\" stands for any argument at any depth and is no part of a path: write args.\"*\")"},
		{"a member of any argument", ruleWith("args.'*' = { x = 'y' }"), "4:14: args.\"*\".x has a \"*\" beside other names (\"*\" stands for any argument at any depth and is no part of a path: write args.\"*\")"},
		{"a constraint below a star", ruleWith("where.'*'.x.min = 1"), "4:1: where.\"*\".x.min has a \"*\" beside other names (\"*\" stands for any argument at any depth and is no part of a path: write where.\"*\")"},
		{"the type of any argument", ruleWith("where.'*'.type = 'string'"), "4:1: type is about one argument, and \"*\" names any (name the argument that it is about)"},
		{"a star among further arguments", ruleWith("args_only = ['*']"), "4:1: args_only has \"*\", which is not a name of an argument (list names, or leave args_only out)"},
		{"open beside any argument", ruleWith("args.'*' = 'x'\nargs_open = true"), "5:1: args_open beside args.\"*\" (args.\"*\" is about every argument)"},
		{"not is a text", ruleWith("not = 'x'"), "4:7: not must be a table, not a string (write not.args.path = \"**/.git/**\")"},
		{"not is empty", ruleWith("not = {}"), "4:1: not is empty (write not.args.path = \"**/.git/**\")"},
		{"an empty table of exceptions", ruleWith("[rule.not]"), "4:7: not excepts nothing (write not.args.path = \"**/.git/**\")"},
		{"args of not is a text", ruleWith("not.args = 'x'"), "4:12: not.args must be a table, not a string (write not.args.path = \"**/.git/**\")"},
		{"an exception of an empty list", ruleWith("not.tool = []"), "4:1: not.tool is an empty list (no value would match)"},
		{"an exception of another kind", ruleWith("not.where.x = 'x'"), "4:1: unknown key \"not.where.x\" (not has tool, resource, prompt, sampling, elicitation, method, args, server, cwd, who, role, group, env, agent)"},
		{"an exception below a tool", ruleWith("[rule.not]\ntool.x = 'x'"), "5:1: unknown key \"not.tool.x\" (did you mean \"tool\"?)"},
		{"an exception by a misspelt key", ruleWith("not.servre = 'x'"), "4:1: unknown key \"not.servre\" (did you mean \"server\"?)"},
		{"an exception twice", ruleWith("not.server = 'x'\nnot.server = 'y'\nnot.args.p = 'a'\nnot.args.p = 'b'"), "5:1: not.server is given twice (a list of globs is an exception for each)\n7:1: not.args.p is given twice (the first is on line 6; a list of globs is an exception for each)"},
		{"an exception of another subject", ruleWith("not.resource = 'x'"), "4:1: not.resource beside tool (write not.tool)"},
		{"arguments of a resource", "[[rule]]\naction='deny'\nresource='x'\nnot.args.p = 'x'", "4:1: not.args beside resource (only tools and prompts have arguments)"},
		{"a star below an exception", ruleWith("not.args.o.'*' = 'x'"), "4:1: not.args.o.\"*\" has a \"*\" beside other names (\"*\" stands for any argument at any depth and is no part of a path: write args.\"*\")"},
		{"exceptions too deep", ruleWith("not.args." + strings.Repeat("a.", 70) + "b = 'x'"), "4:1: not nests more than 64 deep"},
		{"server is an empty list", ruleWith("server = []"), `4:1: server is an empty list (no value would match)`},
		{"a method of another key in a list", "[[rule]]\naction='deny'\nmethod = ['logging/*', 'tools/call']", `3:1: method "tools/call" is covered by the key "tool" (write tool = ... instead)`},
		{"description is a date", ruleWith("description = 2026-01-01"), `4:15: description must be a string, not a date or time`},
		{"empty glob", "[[rule]]\ntool = ''\naction='allow'", `2:8: tool: empty pattern ("*" is any text without a "/", "**" any text)`},
		{"empty server", ruleWith("server = ''"), `4:10: server: empty pattern ("*" is any text without a "/", "**" any text)`},
		{"no action", "\n[[rule]]\ntool='t'", `2:1: rule without an action (add action = "allow", "deny" or "prompt")`},
		{"no subject", "[[rule]]\naction='deny'", `1:1: rule without a subject (add one of tool, resource, prompt, sampling, elicitation, method)`},
		{"nothing at all", "[[rule]]", "1:1: rule without an action (add action = \"allow\", \"deny\" or \"prompt\")\n1:1: rule without a subject (add one of tool, resource, prompt, sampling, elicitation, method)"},
		{"two subjects", ruleWith("resource = 'r'"), `4:1: resource beside tool: a rule has one subject (tool is on line 3; write two rules)`},
		{"twice", ruleWith("action = 'deny'"), `4:1: action is given twice (the first is on line 2)`},
		{"tool twice", ruleWith("tool = 'deny'"), `4:1: tool is given twice (the first is on line 3)`},
		{"args beside sampling", "[[rule]]\naction='deny'\nargs.path='x'\nsampling='**'", `3:1: args beside sampling (only tools and prompts have arguments)`},
		{"args beside resource", "[[rule]]\naction='deny'\nresource='**'\n[rule.args]\nx='y'", `4:7: args beside resource (only tools and prompts have arguments)`},
		{"args is a string", ruleWith("args = 'x'"), `4:8: args must be a table, not a string (write args.path = "/some/**")`},
		{"args is a list", ruleWith("args = ['x']"), `4:1: args must be a table, not a list (write args.path = "/some/**")`},
		{"args is empty", ruleWith("args = {}"), `4:1: args names no argument (write args.path = "/some/**")`},
		{"args table is empty", ruleWith("[rule.args]"), `4:7: args names no argument (write args.path = "/some/**")`},
		{"argument is an empty table", ruleWith("args.x = {}"), `4:1: args.x is empty`},
		{"argument is a number", ruleWith("args.x = 1"), `4:10: args.x must be a glob or a list of globs, not a number (a number or boolean is matched by its text: args.x = "1")`},
		{"argument is an empty glob", ruleWith("args.x = ''"), `4:10: args.x: empty pattern ("*" is any text without a "/", "**" any text)`},
		{"list is empty", ruleWith("args.x = []"), `4:1: args.x is an empty list (no value would match)`},
		{"list of numbers", ruleWith("args.x = ['a', 1.5, true]"), "4:16: args.x must be a string, not a number\n4:21: args.x must be a string, not a boolean"},
		{"list of lists", ruleWith("args.x = [['a']]"), `4:1: args.x must be a string, not a list`},
		{"list of empty globs", ruleWith("args.x = ['']"), `4:11: args.x: empty pattern ("*" is any text without a "/", "**" any text)`},
		{"argument twice", ruleWith("args.x = 'a'\nargs.y='b'\nargs.x = 'b'"), `6:1: args.x is given twice (args.x is on line 4; a list of globs says that one must match)`},
		{"argument beside its member", ruleWith("args.x.y = 'a'\nargs.x = 'b'"), `4:1: args.x.y beside args.x (args.x is on line 5; a list of globs says that one must match)`},
		{"args too deep", ruleWith("args" + strings.Repeat(".x", 65) + " = 'a'"), `4:1: args nest more than 64 deep`},
		{"table defined twice", ruleWith("args.x = 'a'\n[rule.args]\ny = 'b'"), `5:7: invalid TOML: args is already defined, as a table by a dotted key`},
		{"rule is not a list", "[rule]\naction='deny'\ntool='*'", `1:1: [rule] must be [[rule]] (a policy is a list of rules)`},
		{"rules", "[[rules]]\naction='deny'\ntool='*'", `1:1: unknown table "rules" (did you mean [[rule]]?)`},
		{"Rule", "[[Rule]]\ntol='*'", "1:1: unknown table \"Rule\" (did you mean [[rule]]?)\n1:1: rule without an action (add action = \"allow\", \"deny\" or \"prompt\")\n2:1: unknown key \"tol\" (did you mean \"tool\"?)"},
		{"another table", "[policy]\nx=1\n", `1:1: unknown table "policy" (a policy holds only [[rule]], [[limit]] and [[extends]] tables, [server.NAME], [flow] and [folders])`},
		{"a table inside", ruleWith("[rule.tol]\nx='y'"), `4:7: unknown key "tol" (did you mean "tool"?)`},
		{"a string as a table", ruleWith("[rule.server]\nx='y'"), `4:7: server must be a string, not a table`},
		{"args as a list", ruleWith("[[rule.args]]\nx='y'"), `4:1: [[rule.args]] must be [rule.args]`},
		{"table above the rules", "[rule.args]\nx='y'", `1:1: table of a rule above every [[rule]] (put [[rule]] on a line before it)`},
		{"rule inline", "rule = [{action='allow', tool='*'}]", `1:1: rules must be written as [[rule]] tables (put [[rule]] above the keys of each)`},
		{"keys above the rules", "action='allow'\nwhere.x='y'\nfoo=1\n", "1:1: \"action\" must be above every [[rule]] (put [[rule]] on a line before it)\n2:1: \"where\" must be above every [[rule]] (put [[rule]] on a line before it)\n3:1: unknown key \"foo\" (a policy holds only [[rule]], [[limit]] and [[extends]] tables, [server.NAME], [flow] and [folders])"},
		{"a key in the place of a table", "server.y=1\nflow='ask'\n", `1:1: server is a table (write [server.NAME], [server.NAME.tool."GLOB"] for some of its tools, and [server.NAME.sandbox] for its cage)
2:1: flow is a table (write [flow], and below it level = "ask")`},
		{"ask beside allow", ruleWith("ask='out-of-band'"), `4:1: ask beside action "allow" (only action = "prompt" asks)`},
		{"ask beside deny", "[[rule]]\nask='out-of-band'\naction='deny'\ntool='t'", `2:1: ask beside action "deny" (only action = "prompt" asks)`},
		{"ask beside no action", "[[rule]]\nask='out-of-band'\ntool='t'", `1:1: rule without an action (add action = "allow", "deny" or "prompt")`},
		{"ask beside an unknown action", "[[rule]]\naction='aks'\nask='out-of-band'\ntool='t'", `2:8: unknown action "aks" (one of allow, deny, prompt)`},
		{"unknown ask", "[[rule]]\naction='prompt'\nask='terminal'\ntool='t'", `3:5: unknown ask "terminal" (it can be "out-of-band")`},
		{"near ask", "[[rule]]\naction='prompt'\nask='out of band'\ntool='t'", `3:5: unknown ask "out of band" (did you mean "out-of-band"?)`},
		{"ask of a wrong type", "[[rule]]\naction='prompt'\nask=true\ntool='t'", `3:5: ask must be a string, not a boolean (it can be "out-of-band")`},
		{"ask is a table", "[[rule]]\naction='prompt'\nask.x='out-of-band'\ntool='t'", `3:1: ask must be a string, not a table`},
		{"ask twice", "[[rule]]\naction='prompt'\nask='out-of-band'\nask='out-of-band'\ntool='t'", `4:1: ask is given twice (the first is on line 3)`},
		{"a misspelt ask", "[[rule]]\naction='prompt'\naks='out-of-band'\ntool='t'", `3:1: unknown key "aks" (did you mean "ask"?)`},
		{"limit above the rules", "limit='9/min'", `1:1: "limit" must be above every [[rule]] (one over all tools is a table: write [[limit]])`},
		{"limit as one table", "[limit]\nrate='9/min'", `1:1: [limit] must be [[limit]] (a policy may have several)`},
		{"a misspelt [[limit]]", "[[limits]]\nrate='9/min'", `1:1: unknown table "limits" (did you mean "limit"?)`},
		{"a table in [[limit]]", "[limit.tool]\nx='y'", `1:1: a table in a limit (its keys stand below [[limit]])`},
		{"[[limit]] without a rate", "[[limit]]\ntool='x'\n[[limit]]\nsum='args.a'", "1:1: limit without a rate (write rate = \"100/min\")\n3:1: limit without a rate (write rate = \"100/min\")"},
		{"[[limit]] of everything", "[[limit]]\nrate='9/min'\nrate='8/min'\nper='tools'\nover='prompt'\ntool=1\nserver=['a','']\nserver='b'\ndescription=1\ndescription='x'\ntool.x='a'\nrat.e=1\n",
			"3:1: rate is given twice\n4:5: unknown limit.per \"tools\" (did you mean \"tool\"?)\n5:1: unknown key \"over\" in [[limit]] (it has rate, sum, per, tool, server, description)\n" +
				"6:6: tool must be a glob or a list of globs, not a number (a number or boolean is matched by its text: tool = \"1\")\n7:13: server: empty pattern (\"*\" is any text without a \"/\", \"**\" any text)\n8:1: server is given twice\n" +
				"9:13: description must be a string, not a number\n10:1: description is given twice\n11:1: tool is not a table (write tool = VALUE)\n12:1: unknown key \"rat.e\" in [[limit]] (did you mean \"rate\"?)"},
		{"[[limit]] for each rule", "[[limit]]\nrate='9/min'\nper='rule'", `3:5: unknown limit.per "rule" (one of tool, server)`},
		{"[[limit]] of nothing", "[[limit]]\nrate='0/min'", `2:6: limit.rate: 0 is not between 1 and 10000 (to allow nothing, write action = "deny")`},
		{"[[limit]] on a sum over all", "[[limit]]\nrate='9/min'\nsum='args.a'", `1:1: sum without tool (a call in which the argument is missing is denied: name the tools that have it)`},
		{"[[limit]] that is no TOML", "[[limit]]\nrate=9/min\n[[rule]]\nacton='x'\ntool='t'", "2:7: invalid TOML: expected newline but got U+002F '/'\n4:1: unknown key \"acton\" (did you mean \"action\"?)"},
		{"a table of a rule behind [[limit]]", ruleWith("[[limit]]\nrate='9/min'\n[rule.args]\nx='y'"), `6:1: table of a rule above every [[rule]] (put [[rule]] on a line before it)`},
		{"annotations beside allow", ruleWith("annotations='destructive'"), `4:1: annotations beside action "allow" (a server writes them itself, so they may close and open nothing: write a deny or a prompt above the allow)`},
		{"annotations of a resource", "[[rule]]\naction='deny'\nresource='**'\nannotations='destructive'", `4:1: annotations beside resource (only tools have them)`},
		{"annotations of no words", "[[rule]]\naction='deny'\ntool='*'\nannotations=[]", `4:1: annotations is an empty list (some of not-read-only, destructive, not-idempotent, open-world)`},
		{"annotations of other words", "[[rule]]\naction='deny'\ntool='*'\nannotations=['destructiv','read-only',1]", "4:14: unknown annotation \"destructiv\" (did you mean \"destructive\"?)\n4:27: unknown annotation \"read-only\" (some of not-read-only, destructive, not-idempotent, open-world)\n4:39: annotations must be a string or a list of strings, not a number (some of not-read-only, destructive, not-idempotent, open-world)"},
		{"annotations of another type", "[[rule]]\naction='deny'\ntool='*'\nannotations=true", `4:13: annotations must be a string or a list of strings, not a boolean (some of not-read-only, destructive, not-idempotent, open-world)`},
		{"an exception by annotations", "[[rule]]\naction='deny'\ntool='*'\nnot.annotations='destructive'", `4:1: unknown key "not.annotations" (not has tool, resource, prompt, sampling, elicitation, method, args, server, cwd, who, role, group, env, agent)`},
		{"annotations of nothing", "[[rule]]\nannotations='destructive'", "1:1: rule without an action (add action = \"allow\", \"deny\" or \"prompt\")\n1:1: rule without a subject (add one of tool, resource, prompt, sampling, elicitation, method)"},
		{"byte order mark", "\xef\xbb\xbf[[rule]]\nactoin='allow'\ntool='t'", "1:1: the file begins with a byte order mark (save it as UTF-8 without one)\n2:1: unknown key \"actoin\" (did you mean \"action\"?)"},
		{"UTF-16", "\xff\xfe[\x00[\x00", `1:1: the file is UTF-16 (save it as UTF-8)`},
		{"UTF-16, big end first", "\xfe\xff\x00[\x00[", `1:1: the file is UTF-16 (save it as UTF-8)`},
		{"bare word", "[[rule]]\naction = deny\ntool = 't'", `2:10: invalid TOML: unexpected character U+0064 'd' at start of value (text needs quotes)`},
		{"Windows path", ruleWith(`args.x = "é\Users"`), `4:12: invalid TOML: unicode escape sequence is too short (write \\ for a backslash, or put the text in single quotes)`},
		{"reading goes on at the next rule", "[[rule]]\naction = deny\n\n[[rule]]\nacton = 'deny'\ntool='x'\n[[rule]]\ntool='é\n  [[rule]]", `2:10: invalid TOML: unexpected character U+0064 'd' at start of value (text needs quotes)
5:1: unknown key "acton" (did you mean "action"?)
8:8: invalid TOML: literal strings cannot have new lines
9:3: rule without an action (add action = "allow", "deny" or "prompt")
9:3: rule without a subject (add one of tool, resource, prompt, sampling, elicitation, method)`},
		{"invalid UTF-8", "[[rule]]\n# \xff\n", `2:3: invalid TOML: invalid UTF-8 character in comment`},
		{"string without an end", ruleWith("description = '''x"), `4:19: invalid TOML: multiline literal string not terminated by '''`},
		{"string without an end, in characters of several bytes", "[[rule]]\naction=\"é四", `2:10: invalid TOML: unterminated basic string`},
		{"covered method", "[[rule]]\naction='deny'\nmethod='tools/call'", `3:8: method "tools/call" is covered by the key "tool" (write tool = ... instead)`},
		{"covered method in another case", "[[rule]]\naction='deny'\nmethod='Sampling/createMessage'", `3:8: method "Sampling/createMessage" is covered by the key "sampling" (write sampling = ... instead)`},
		{"ping", "[[rule]]\naction='deny'\nmethod='ping'", `3:8: no rule applies to "ping" (a session cannot do without it)`},
		{"notifications", "[[rule]]\naction='deny'\nmethod='notifications/*'", `3:8: no rule applies to notifications (only requests are judged)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules, errs := parseSource("p.toml", []byte(c.src))
			if rules != nil {
				t.Errorf("%d rules from a bad policy", len(rules))
			}
			want := "p.toml:" + strings.ReplaceAll(c.want, "\n", "\np.toml:")
			if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(errs.Error(), "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Only the rule that demands it, and no other, wants a person out of band.
func TestAskOutOfBand(t *testing.T) {
	p := mustLoad(t, "[[rule]]\naction='prompt'\ntool='a'\nask='out-of-band'\n[[rule]]\naction='prompt'\ntool='b'\n")
	for i, want := range []bool{true, false} {
		call := Call{Subject: ToolSubject, Names: []string{string("ab"[i])}}
		if d := p.Decide(&call); d.Action != Prompt || d.Rule.OutOfBand != want {
			t.Errorf("%q: %+v", call.Names, d.Rule)
		}
	}
}

func TestParseSourceGivesTheText(t *testing.T) {
	for src, want := range map[string]string{
		ruleWith("acton = 'x'"):                             "acton",
		"[[rule]]\naction = 'x'\ntool='t'":                  "'x'",
		"[[rule]]\ntool='t'":                                "[[rule]]",
		ruleWith("args.x = ['']"):                           "''",
		ruleWith("args.x = 'a'\nargs.x = 'b'"):              "args.x",
		ruleWith("description = {a = '''\nb'''}"):           "{",
		"[[rule]]\naction='allow'\ntool='''\n'''\n":         "'''",
		"[[rule]]\naction='allow'\nmethod='resources/read'": "'resources/read'",
	} {
		_, errs := parseSource("p.toml", []byte(src))
		if len(errs) != 1 || errs[0].Text != want {
			t.Errorf("%q: %v, text %q, want %q", src, errs, errs[0].Text, want)
		}
	}
}

func TestEveryCoveredMethodNamesItsKey(t *testing.T) {
	for method, key := range coveredMethods {
		if msg, hint := refuseMethod(method); msg == "" || !strings.Contains(hint, key) || !slices.Contains(subjectKeys, key) {
			t.Errorf("%s: %q, %q", method, msg, hint)
		}
	}
	for _, method := range []string{"initialize", "server/discover", "ping", "notifications/cancelled", "notifications/**"} {
		if msg, _ := refuseMethod(method); msg == "" {
			t.Errorf("%s may be ruled", method)
		}
	}
	for _, method := range []string{"*", "**", "tasks/*", "tools/*", "completion/complete", "logging/setLevel", "tools/list", "com.example/x"} {
		if msg, _ := refuseMethod(method); msg != "" {
			t.Errorf("%s: %s", method, msg)
		}
	}
}

func TestAFilesNameBeginsNoLine(t *testing.T) {
	_, err := Parse("a\n::error::b.toml", []byte("acton = 1\n"), Options{})
	if err == nil || !strings.HasPrefix(err.Error(), `"a\n::error::b.toml":1:1: `) || FileName("ä b/c.toml") != "ä b/c.toml" {
		t.Error(err)
	}
}

func TestErrorsUnwrap(t *testing.T) {
	_, errs := parseSource("p.toml", []byte("[[rule]]"))
	var first *Error
	if !errors.As(errs, &first) || first != errs[0] || len(errs.Unwrap()) != 2 {
		t.Errorf("unwrapped to %v", errs.Unwrap())
	}
}

// What means nothing for what a rule judges, or would never match, does not load.
func TestParseRefusesOfReplies(t *testing.T) {
	for rule, want := range map[string]string{
		"on = 'repl'\naction = 'deny'\ntool = 'x'":                             `unknown on "repl" (did you mean "reply"?)`,
		"on = 'replies'\naction = 'deny'\ntool = 'x'":                          `unknown on "replies" (one of call, reply, list, upload)`,
		"on = 'back'\naction = 'deny'\ntool = 'x'":                             `unknown on "back" (one of call, reply, list, upload)`,
		"on = 1\naction = 'deny'\ntool = 'x'":                                  "on must be a string",
		"action = 'fence'\ntool = 'x'":                                         `action "fence" beside on = "call" (it can be allow, deny, prompt; warn and fence are for on = "reply")`,
		"action = 'warn'\non = 'list'\ntool = 'x'":                             `action "warn" beside on = "list" (it can be allow, redact, prompt, deny)`,
		"action = 'redact'\ntool = 'x'\nfind = 'secret'":                       `action "redact" of a call`,
		"action = 'redact'\non = 'reply'\ntool = 'x'":                          `action "redact" without a find`,
		"action = 'redact'\non = 'upload'\nfind = 'secret'":                    `action "redact" beside on = "upload" without a tool`,
		"action = 'deny'\non = 'upload'\nargs.path = 'x'":                      `args without a subject (a rule without a subject is about all that goes to a model; name a tool)`,
		"action = 'deny'\non = 'reply'\nsampling = '**'":                       `sampling beside on = "reply"`,
		"action = 'deny'\non = 'list'\nmethod = 'a/b'":                         `method beside on = "list"`,
		"action = 'allow'\non = 'reply'\ntool = 'x'\nlimit = '1/min'":          `limit beside on = "reply"`,
		"action = 'prompt'\non = 'reply'\ntool = 'x'\npinned = true":           `pinned beside on = "reply"`,
		"action = 'deny'\non = 'list'\ntool = 'x'\nargs.a = 'b'":               `args beside on = "list"`,
		"action = 'deny'\non = 'list'\ntool = 'x'\nwhere.a.present = true":     `where beside on = "list"`,
		"action = 'deny'\non = 'list'\ntool = 'x'\nargs_only = true":           `args_only beside on = "list"`,
		"action = 'deny'\non = 'list'\ntool = 'x'\nnot.args.a = 'b'":           `not.args beside on = "list"`,
		"action = 'deny'\ntool = 'x'\nfind = 'link'":                           `nothing finds "link" on a call (it is found on a reply and on a list)`,
		"action = 'deny'\non = 'list'\ntool = 'x'\nfind = 'schema'":            `nothing finds "schema" on a list (it is found on a call and on a reply)`,
		"action = 'allow'\ntool = 'x'\nfind = 'secret'":                        `find beside action "allow"`,
		"action = 'deny'\nresource = '**'\nfind = 'secret'":                    "find beside resource",
		"action = 'deny'\nmethod = 'a/b'\nfind = 'secret'":                     "find beside method",
		"action = 'deny'\ntool = 'x'\nfind = []":                               "find is an empty list",
		"action = 'deny'\ntool = 'x'\nfind = [7]":                              "find must be a string or a list of strings",
		"action = 'deny'\ntool = 'x'\nfind = 'secrets'":                        `unknown kind "secrets" (did you mean "secret"?)`,
		"action = 'deny'\ntool = 'x'\nfind = 'lookalike'":                      `nothing in this version finds "lookalike" (one of hidden, control`,
		"action = 'deny'\non = 'reply'\ntool = 'x'\nfind = ['personal:names']": `nothing in this version finds "personal:names"`,
		"action = 'denied'\non = 'reply'\ntool = 'x'":                          `unknown action "denied"`,
	} {
		_, errs := parseSource("p", []byte("[[rule]]\n"+rule+"\n"))
		if len(errs) == 0 || !strings.Contains(errs.Error(), want) {
			t.Errorf("%s\nsays %v, want %s", rule, errs, want)
		}
	}
}
