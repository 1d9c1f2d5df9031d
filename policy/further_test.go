package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/internal/effort"
	"github.com/clawai/clawai/policy/reading"
	"github.com/clawai/clawai/policy/where"

	"github.com/clawai/clawai/internal/testing/slow"
)

// and adds members to the arguments of a call.
func (c *Call) and(members string) *Call {
	return toolCall(c.Names[0], strings.TrimSuffix(string(c.Args), "}")+","+members+"}")
}

// An allow with conditions does not open what lies beside them.
func TestFurtherArguments(t *testing.T) {
	const beside = "[[rule]]\naction = 'allow'\ntool = 'read'\nargs.path = '/p/**'\n"
	const member = "[[rule]]\naction = 'allow'\ntool = 'read'\nargs.o.path = '/p/**'\n"
	for _, c := range []struct {
		name, rules, args string
		want              Action
	}{
		{"by name/list", beside, `{"path":"/p/a","paths":["~/.netrc"]}`, Deny},
		{"by name/relative", beside, `{"path":"/p/a","source":"x"}`, Deny},
		{"by name/several lines", beside, `{"path":"/p/a","paths":"a\nb"}`, Deny},
		{"by name/first", beside, `{"cwd":"x","path":"/p/a"}`, Deny},
		{"by name/empty", beside, `{"path":"/p/a","paths":"","files":[],"dir":{},"url":null,"cwd":[""],"root":0,"shell":false}`, Allow},
		{"by name/escaped", beside, `{"path":"/p/a","p\u0061ths":"x"}`, Deny},
		{"by name/not of the object", beside, `{"path":"/p/a","files":{"x":"y"}}`, Allow},
		{"by value/list of lists", beside, `{"path":"/p/a","x":[1,[["~/.netrc"]]]}`, Deny},
		{"by value/object", beside, `{"path":"/p/a","x":{"y":[{"z":"https://h/"}]}}`, Deny},
		{"by value/member's name", beside, `{"path":"/p/a","x":{"y":[{"dir":"z"}]}}`, Deny},
		{"by value/JSON", beside, `{"path":"/p/a","x":"[\"~/.netrc\"]"}`, Deny},
		{"by value/JSON in JSON", beside, `{"path":"/p/a","x":"{\"y\":\"[\\\"~/.netrc\\\"]\"}"}`, Deny},
		{"by value/name in JSON", beside, `{"path":"/p/a","x":" {\"file\":\"y\"} "}`, Deny},
		{"by value/no JSON", beside, `{"path":"/p/a","x":"[\"~/.netrc\", ok]"}`, Allow},
		{"by value/no JSON behind", beside, `{"path":"/p/a","x":"[\"/x\"] or [\"y\"]"}`, Allow},
		{"another case", beside, `{"path":"/p/a","Paths":"x"}`, Deny},
		{"plain", beside, `{"path":"/p/a","head":1,"ref":"x","content":"/etc/x","o":{"n":[1,true,null]}}`, Allow},
		{"list elements", beside, `{"path":["/p/a","/p/b"],"n":[{"a":1}]}`, Allow},

		{"no condition", "[[rule]]\naction='allow'\ntool='read'\n", `{"path":"/etc/x"}`, Allow},
		{"where", "[[rule]]\naction='allow'\ntool='read'\nwhere.path.max_length=9\n", `{"path":"/p/a","url":"x"}`, Deny},
		{"named by where", beside + "where.url.max_length=9\n", `{"path":"/p/a","url":"x"}`, Allow},
		{"present", "[[rule]]\naction='allow'\ntool='read'\nwhere.path.present=false\n", `{"url":"x"}`, Deny},
		{"below", beside + "[[rule]]\naction='prompt'\ntool='*'\n", `{"path":"/p/a","url":"x"}`, Prompt},
		{"another rule names it", beside + "[[rule]]\naction='allow'\ntool='read'\nargs.path='/p/**'\nargs.url='x'\n", `{"path":"/p/a","url":"x"}`, Allow},
		{"a prompt", "[[rule]]\naction='prompt'\ntool='read'\nargs.path='/p/**'\n", `{"path":"/p/a","url":"x"}`, Prompt},
		{"a deny", "[[rule]]\naction='deny'\ntool='read'\nargs.path='/p/**'\n[[rule]]\naction='allow'\ntool='*'\n", `{"path":"/p/a","url":"x"}`, Deny},

		{"open", beside + "args_open = true\n", `{"path":"/p/a","paths":["~/.netrc"]}`, Allow},
		{"only/none", beside + "args_only = true\n", `{"path":"/p/a"}`, Allow},
		{"only/one", beside + "args_only = true\n", `{"path":"/p/a","n":1}`, Deny},
		{"only/null", beside + "args_only = true\n", `{"path":"/p/a","n":null}`, Deny},
		{"only/empty name", beside + "args_only = true\n", `{"path":"/p/a","":1}`, Deny},
		{"only/listed", beside + "args_only = ['x', 'paths']\n", `{"path":"/p/a","paths":["/etc/x"],"x":{"y":"/z"}}`, Allow},
		{"only/another", beside + "args_only = ['x']\n", `{"path":"/p/a","x":1,"y":1}`, Deny},
		{"only/another case", beside + "args_only = ['x']\n", `{"path":"/p/a","X":1}`, Deny},
		{"only/no condition", "[[rule]]\naction='allow'\ntool='read'\nargs_only = true\n", `{}`, Allow},
		{"only/no condition", "[[rule]]\naction='allow'\ntool='read'\nargs_only = true\n", `{"a":1}`, Deny},
		{"only/other rules name it", beside + "args_only = true\n[[rule]]\naction='deny'\ntool='x'\nargs.n='1'\n", `{"path":"/p/a","n":1}`, Deny},
		{"only/prompt", "[[rule]]\naction='prompt'\ntool='read'\nargs.path='/p/**'\nargs_only=true\n", `{"path":"/p/a"}`, Prompt},
		{"only/prompt", "[[rule]]\naction='prompt'\ntool='read'\nargs.path='/p/**'\nargs_only=true\n", `{"path":"/p/a","n":1}`, Deny},
		{"only/deny", "[[rule]]\naction='deny'\ntool='read'\nargs_only=['a']\n[[rule]]\naction='allow'\ntool='*'\n", `{"a":1}`, Deny},
		{"only/deny", "[[rule]]\naction='deny'\ntool='read'\nargs_only=['a']\n[[rule]]\naction='allow'\ntool='*'\n", `{"b":1}`, Allow},

		{"member", member, `{"o":{"path":"/p/a","n":1}}`, Allow},
		{"member/beside", member, `{"o":{"path":"/p/a","url":"x"}}`, Deny},
		{"member/deeper", member, `{"o":{"path":"/p/a","x":{"url":"x"}}}`, Deny},
		{"member/in a list", member, `{"o":[{"path":"/p/a"},{"path":"/p/b","url":"x"}]}`, Deny},
		{"member/in a list of lists", member, `{"o":[[{"path":"/p/a"}]]}`, Allow},
		{"member/a text beside it", member, `{"o":[{"path":"/p/a"},"/etc/x"]}`, Deny},
		{"member/in JSON", member + "[[rule]]\naction='allow'\ntool='read'\nwhere.o.path.present=false\n", `{"o":"{\"url\":\"x\"}"}`, Deny},
		{"member/of what is named", "[[rule]]\naction='allow'\ntool='read'\nargs.o='**'\n" + strings.Replace(member, "allow", "deny", 1), `{"o":{"url":"x","path":"/q"}}`, Deny},
		{"member/of what is named", "[[rule]]\naction='allow'\ntool='read'\nwhere.o.type='object'\n" + strings.Replace(member, "allow", "deny", 1), `{"o":{"url":"x","path":"/q"}}`, Allow},
		{"member/only", member + "args_only = true\n", `{"o":{"path":"/p/a"}}`, Allow},
		{"member/only", member + "args_only = true\n", `{"o":{"path":"/p/a","n":1}}`, Deny},
		{"member/only listed", member + "args_only = ['o']\n", `{"o":{"path":"/p/a","n":"/x"}}`, Allow},
		{"cut off", beside, `{"path":"/p/a","x":["/y"`, Deny},
		{"cut off", beside, `{"path":"/p/a","x":{"y":"/y`, Deny},
		{"cut off", member, `{"o":["/y`, Deny},
		{"cut off", beside, `{"path":"/p/a`, Deny},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := mustLoad(t, c.rules).Decide(toolCall("read", c.args)); got.Action != c.want {
				t.Errorf("%s: %v by %v, want %v\n%s", c.args, got.Action, got.Rule, c.want, c.rules)
			}
		})
	}
	prompt := mustLoad(t, "[[rule]]\naction='allow'\nprompt='p'\nargs.url='https://h/**'\n")
	c := Call{Method: "prompts/get", Subject: PromptSubject, Names: []string{"p"}, Args: []byte(`{"url":"https://h/x","file":"y"}`)}
	if d := prompt.Decide(&c); d.Action != Deny {
		t.Errorf("a prompt: %+v", d)
	}
}

// Ordinary calls of real servers, with a rule on the arguments that name places: none
// is refused for what else it has.
func TestOrdinaryArguments(t *testing.T) {
	for _, c := range []struct{ named, args string }{
		{"path", `{"path":"/p/a","content":"/usr/bin/env node"}`},
		{"path", `{"path":"/p/a","content":"#!/bin/sh\nrm -rf /tmp/x\n"}`},
		{"path", `{"path":"/p/a","content":"{\"path\":\"/etc/x\",\"url\":\"https://h\"}"}`},
		{"path", `{"path":"/p/a","edits":[{"oldText":"/a","newText":"../b"}],"dryRun":true}`},
		{"path", `{"path":"/p/a","old_str":"./a","new_str":"~/b","insert_text":"/x"}`},
		{"path", `{"path":"/p/a","head":10,"tail":null}`},
		{"path", `{"path":"/p","pattern":"/api/v1","excludePatterns":["/dist","**/node_modules/**"]}`},
		{"path", `{"path":"/p","pattern":"*.ts","searchType":"content","ignoreCase":true}`},
		{"path", `{"path":"/p","sortBy":"size"}`},
		{"file_path", `{"file_path":"/p/a","old_string":"/x","new_string":"/y","expected_replacements":1}`},
		{"repo_path", `{"repo_path":"/p","target":"feature/x","context_lines":3}`},
		{"repo_path", `{"repo_path":"/p","max_count":5,"start_timestamp":"2026/01/02","end_timestamp":"2026-01-03T10:00:00Z"}`},
		{"repo_path", `{"repo_path":"/p","branch_name":"feature/x","base_branch":"origin/main"}`},
		{"repo_path", `{"repo_path":"/p","message":"/etc is no place for this"}`},
		{"repo_path", `{"repo_path":"/p","remote":"origin","branch":"main","mode":"fast-forward","author":{"name":"A","email":"a@h.example"}}`},
		{"owner", `{"owner":"o","repo":"r","sha":"0123abcd","ref":"refs/heads/main","base":"main","head":"o:feature/x"}`},
		{"owner", `{"owner":"o","repo":"r","title":"https://h is down","body":"See /etc/hosts","labels":["kind/bug"],"assignees":["me"],"milestone":1}`},
		{"repo", `{"owner":"o","repo":"o/r","q":"path:/x language:go","order":"desc","sort":"-created"}`},
		{"branch", `{"owner":"o","repo":"r","branch":"x","commit_message":"./x","direction":"asc","since":"2026-01-02T00:00:00Z"}`},
		{"url", `{"url":"https://h/","max_length":5000,"start_index":0,"raw":false}`},
		{"url", `{"url":"https://h/","formats":["markdown","html"],"onlyMainContent":true,"includeTags":[".main","#x"],"excludeTags":["nav"],"waitFor":100,"mobile":false,"proxy":"stealth","location":{"country":"DE","languages":["de"]}}`},
		{"url", `{"url":"https://h/","method":"POST","headers":{"Accept":"*/*","Content-Type":"application/json","Authorization":"Bearer a/b+c"},"body":"{\"url\":\"https://x\"}"}`},
		{"query", `{"query":"x","count":10,"sources":[{"type":"web"}],"tbs":"qdr:d","country":"US","include_domains":["h.example"],"time_range":"day"}`},
		{"query", `{"query":"SELECT 1","params":[1,"a/b"],"timeout":"30s"}`},
		{"database", `{"database":"x","sql":"/* hint */ SELECT 1"}`},
		{"channel_id", `{"channel_id":"C1","text":"/remind me https://h","thread_ts":"1234.5678","reaction":"+1","cursor":"dGVhbTpD=="}`},
		{"page_id", `{"page_id":"1-2","properties":{"Name":{"title":[{"text":{"content":"/x"}}]},"Due":{"date":{"start":"2026-01-02"}}},"archived":false}`},
		{"element", `{"element":"Sign in","target":"e12","text":"https://h","submit":true,"slowly":false}`},
		{"element", `{"element":"x","selector":"//div[@id='x']/a","button":"left","modifiers":["Shift"],"doubleClick":false}`},
		{"fields", `{"fields":[{"name":"Home page","type":"textbox","target":"e5","value":"https://h"}]}`},
		{"namespace", `{"namespace":"x","resourceType":"pods","name":"web-1","labelSelector":"app=web","output":"json","sortBy":".metadata.name","allNamespaces":false,"context":"a/b"}`},
		{"origin", `{"origin":"Berlin","mode":"driving","waypoints":["Leipzig/Halle"],"units":"metric"}`},
		{"entities", `{"entities":[{"name":"x","entityType":"file","observations":["lives in /etc"]}]}`},
		{"name", `{"name":"x","relations":[{"from":"a/b","to":"c","relationType":"uses"}]}`},
		{"model", `{"model":"org/model-7b","temperature":0.2,"messages":[{"role":"user","content":"/help"}],"input":"Hello. How are you?","stop":["\n"]}`},
		{"to", `{"to":"a@h.example","from":"b@h.example","cc":["c@h.example"],"subject":"https://h","body":"x","priority":"high"}`},
		{"image", `{"image":"/9j/x","data":"/9j/4AAQSkZJRgABAQAAAQ==","mimeType":"image/jpeg"}`},
		{"id", `{"id":1,"date":"2026/01/02","time":"10:30","range":"A1:B2","sheet":"Q1/Q2","version":"v1.2.3","lang":"en/us","tz":"Europe/Berlin","ratio":"16/9","price":"$5/day","note":"~5 minutes","token":"/x+y="}`},
	} {
		p := mustLoad(t, fmt.Sprintf("[[rule]]\naction='allow'\ntool='t'\nwhere.%s.present=true\n", c.named))
		if d := p.Decide(toolCall("t", c.args)); d.Action != Allow {
			tr := p.Trace(toolCall("t", c.args))
			t.Errorf("%s: %v %v", c.args, tr.Steps[0].At.Path, tr.Steps[0].At.Got)
		}
	}
}

func TestFurtherDoesNotLoad(t *testing.T) {
	rule := "[[rule]]\naction = \"allow\"\ntool = \"t\"\n"
	for _, c := range []struct{ text, want string }{
		{rule + "args_only = false\n", `:4:13: args_only must be true or a list of names, not a boolean (write args_only = true, or args_only = ["limit", "offset"])`},
		{rule + "args_only = []\n", `:4:1: args_only is an empty list (for no further arguments at all write args_only = true)`},
		{rule + "args_only = [1]\n", `:4:14: args_only must be true or a list of names, not a number`},
		{rule + "args_only = \"x\"\n", `args_only must be true or a list of names, not a string`},
		{rule + "args.x = \"y\"\nargs_open = false\n", `:5:13: args_open must be true, not a boolean (leave it out`},
		{rule + "args_open = true\n", `:4:1: args_open names no argument (an allow without args and where is open to all arguments)`},
		{rule + "args.x = \"y\"\nargs_open = true\nargs_only = true\n", `:5:1: args_open beside args_only (a rule accepts further arguments, or it does not)`},
		{strings.Replace(rule, "allow", "deny", 1) + "args.x = \"y\"\nargs_open = true\n", `:5:1: args_open beside action "deny" (only an allow is shut by further arguments)`},
		{strings.Replace(rule, "tool", "resource", 1) + "args_only = true\n", `:4:1: args_only beside resource (only tools and prompts have arguments)`},
		{rule + "arg_only = true\n", `unknown key "arg_only" (did you mean "args_only"?)`},
		{rule + "args_only.x = true\n", `args_only must be`},
		{rule + "args_only = true\nargs_only = true\n", `args_only is given twice (the first is on line 4)`},
	} {
		if _, err := Parse("p.toml", []byte(c.text), Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n%v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestTraceFurther(t *testing.T) {
	const beside = "[[rule]]\naction='allow'\ntool='read'\nargs.path='/p/**'\nargs.o.n='1'\n"
	for _, c := range []struct {
		more, args string
		match      where.Match
		path, got  string
		want       string
	}{
		{"", `{"path":"/p/a","o":{"n":1,"q":1,"url":"x","dir":"y"}}`, where.Maybe, "o.url", reading.ByName.String(), ""},
		{"", `{"path":"/p/a","o":{"n":1},"q":1,"x":"/y"}`, where.Maybe, "x", reading.AsPath.String(), ""},
		{"args_only=true\n", `{"path":"/p/a","o":{"n":1},"q":1}`, where.No, "q", "", "true"},
		{"args_only=['x','y']\n", `{"path":"/p/a","o":{"n":1,"q":1}}`, where.No, "o.q", "", `["x", "y"]`},
		{"[[rule]]\naction='deny'\ntool='x'\nargs.z='1'\n", `{"path":"/p/a","o":{"n":1},"z":"rm -r x"}`, where.Maybe, "z", reading.AsCommand.String(), ""},
		{"", `{"path":"/p/a","o":{"n":2},"x":"/y"}`, where.No, "o.n", "", ""},
	} {
		p := mustLoad(t, beside+c.more)
		s := p.Trace(toolCall("read", c.args)).Steps[0]
		if got := strings.Join(s.At.Path, "."); s.Match != c.match || got != c.path || s.At.Got != c.got || c.want != "" && !slices.Equal(s.At.Want, []string{c.want}) {
			t.Errorf("%s: %v at %+v", c.args, s.Match, s.At)
		}
	}
}

// A rule keeps what it says of further arguments when it is written again.
func TestFurtherIsWritten(t *testing.T) {
	for _, more := range []string{"args_only = true\n", "args_only = [\"a b\", \"c\"]\n", "args_open = true\n"} {
		src := "[[rule]]\naction = \"allow\"\ntool = \"t\"\nargs.x = \"y\"\n" + more
		p := mustLoad(t, src)
		if got := p.sources[0].formatTOML(); got != src {
			t.Errorf("%s became %s", src, got)
		}
		s := p.Sources()[0]
		if s.Further.Open != strings.Contains(more, "open") || s.Further.Only == s.Further.Open || s.WatchesUnnamedArgs() == s.Further.Open {
			t.Errorf("%s: %+v", more, s.Further)
		}
	}
}

// A million arguments cost what they weigh, and many that rules name no more.
func TestManyFurtherArguments(t *testing.T) {
	slow.Test(t)
	var src, args strings.Builder
	src.WriteString("[[rule]]\naction='allow'\ntool='t'\nargs.path='/p/**'\n")
	args.WriteString(`{"path":"/p/a"`)
	for i := range 2000 {
		fmt.Fprintf(&src, "[[rule]]\naction='allow'\ntool='t'\nargs.path='/p/%d'\nargs.n%d='x'\n", i, i)
		fmt.Fprintf(&args, `,"n%d":"x"`, i)
	}
	p := mustLoad(t, src.String())
	if d := p.Decide(toolCall("t", args.String()+"}")); d.Action != Allow {
		t.Errorf("%+v", d)
	}
	for i := range 300_000 {
		fmt.Fprintf(&args, `,"m%d":"x"`, i)
	}
	_, before := p.decideOwnRules(toolCall("t", `{"path":"/p/a"}`), effort.Max)
	_, left := p.decideOwnRules(toolCall("t", args.String()+"}"), effort.Max)
	if before-left < 300_000*furtherEffort {
		t.Errorf("they cost %d", before-left)
	}
}

func BenchmarkFurther(b *testing.B) {
	p := mustCompile(b, 100, mixed(100))
	c := toolCall("filesystem_read", `{"path":"/home/user/projects/a.go","limit":10,"head":1,"encoding":"utf-8","ref":"origin/main","q":"x","recursive":true,"content":"Dear all","tags":["a","b"],"options":{"mode":"fast"}}`)
	b.ReportAllocs()
	for b.Loop() {
		if d := p.Decide(c); d.Action != Allow {
			b.Fatal(d)
		}
	}
}
