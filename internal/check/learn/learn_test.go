package learn_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/learn"
	"github.com/clawai/clawai/internal/check/replay"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/policy"
)

const home = "/home/user"

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// book is a record in the making.
type book struct{ entries []event.Entry }

type made struct {
	server, tool string
	args         string
	was          string // what the rules said
	code, stage  string
	channel      string
	age          time.Duration
	session      string
	line         int
}

func (b *book) add(m made) {
	if m.server == "" {
		m.server = "fs"
	}
	if m.session == "" {
		m.session = "s"
	}
	at := now.Add(-m.age)
	digest := fmt.Sprintf("hmac:%x", sha256.Sum256(fmt.Append(nil, len(b.entries))))
	if m.channel != "" {
		b.entries = append(b.entries, event.Entry{Session: m.session, Digest: digest, Event: event.Event{Kind: event.Answered, Time: at, Channel: m.channel}})
	}
	e := event.Entry{Session: m.session, Digest: digest, Event: event.Event{
		Kind: event.Decision, Record: fmt.Sprintf("%s-%d", m.session, len(b.entries)), Time: at, Server: m.server, Method: "tools/call",
		Subject: "tool", Names: []string{m.tool}, Policy: m.was, Stage: m.stage, Code: m.code, RuleLine: m.line,
	}}
	if m.args != "" {
		e.Args = redact.ScrubJSON([]byte(m.args))
	}
	b.entries = append(b.entries, e)
}

// watched is a call in a session that enforced nothing, under a policy without
// rules.
func watched(tool, args string) made {
	return made{tool: tool, args: args, was: "deny", stage: "observe", code: "no_rule"}
}

// approved is a call that a rule asked about and a person allowed.
func approved(tool, args string) made {
	return made{tool: tool, args: args, was: "prompt", stage: "ask", code: "allowed_by_person", channel: "terminal", line: 1}
}

func refused(tool, args string) made {
	m := approved(tool, args)
	m.code = "denied_by_person"
	return m
}

func (b *book) times(n int, m made) {
	for range n {
		b.add(m)
	}
}

func options() learn.Options {
	return learn.Options{ParseOptions: policy.Options{Home: home}, Own: []string{home + "/.config/clawai"}, Now: now, MinCount: 3, MinShare: 0.9, Observed: learn.AllowReads}
}

// learned is what comes of a record: the text, and the policy.
func learned(t testing.TB, b *book, o learn.Options) (string, *policy.Policy, *learn.Learner, []*learn.Rule) {
	t.Helper()
	l, err := learn.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range b.entries {
		if err := l.Add(&b.entries[i]); err != nil {
			t.Fatal(err)
		}
	}
	rules := l.Propose()
	text, err := l.Compose(rules)
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Parse("p", text, policy.Options{Home: home})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return string(text), p, l, rules
}

func decide(p *policy.Policy, tool, args string) policy.Action {
	return p.Decide(&policy.Call{Server: "fs", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{tool}, Args: []byte(args)}).Action
}

func inPath(s string) string {
	b, _ := json.Marshal(map[string]string{"path": s})
	return string(b)
}

// readThree is three files in two folders, read in a session that was watched.
func readThree(b *book, tool string) {
	for _, f := range []string{"a.md", "b.md", "sub/c.md"} {
		b.add(watched(tool, inPath(home+"/projects/site/"+f)))
	}
}

func TestAFolderIsLearned(t *testing.T) {
	var b book
	readThree(&b, "read_file")
	readThree(&b, "write_file")
	text, p, _, _ := learned(t, &b, options())
	for _, c := range []struct {
		tool, path string
		want       policy.Action
	}{
		{"read_file", home + "/projects/site/a.md", policy.Allow},
		{"read_file", home + "/projects/site/sub/other.md", policy.Allow},
		{"write_file", home + "/projects/site/a.md", policy.Prompt},
		{"read_file", home + "/projects/other/a.md", policy.Deny},
		{"read_file", home + "/projects/site-2/a.md", policy.Deny},
		{"read_file", home + "/projects/site", policy.Deny},
		{"read_file", home + "/projects/site/../x", policy.Deny},
		{"read_file", home + "/projects/site/.env", policy.Deny},
		{"read_file", home + "/projects/site/sub/.SSH/id", policy.Deny},
		{"edit_file", home + "/projects/site/a.md", policy.Deny},
	} {
		if got := decide(p, c.tool, inPath(c.path)); got != c.want {
			t.Errorf("%s %s: %s, want %s\n%s", c.tool, c.path, got, c.want, text)
		}
	}
	for _, want := range []string{"# Learned on 2026-11-22 from 3 calls in 1 session, 2026-11-22 (nothing was enforced).", "Everything else is denied"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	o := options()
	o.Observed = learn.AllowActs
	if _, p, _, _ := learned(t, &b, o); decide(p, "write_file", inPath(home+"/projects/site/a.md")) != policy.Allow {
		t.Error("with --observed allow what writes is allowed")
	}
	o.Observed = learn.AskAlways
	if _, p, _, _ := learned(t, &b, o); decide(p, "read_file", inPath(home+"/projects/site/a.md")) != policy.Prompt {
		t.Error("with --observed prompt all is asked")
	}
}

// TestFoldersKeepToTheBound: what folder comes of what files, if any.
func TestFoldersKeepToTheBound(t *testing.T) {
	for _, c := range []struct {
		name   string
		files  []string
		opened string // a file that was not seen and is open now
		shut   []string
	}{
		{"files of one folder", []string{"/srv/app/a", "/srv/app/b", "/srv/app/c"}, "/srv/app/new", []string{"/srv/app/x/new", "/srv/new"}},
		{"two files", []string{"/srv/app/a", "/srv/app/b"}, "", []string{"/srv/app/new"}},
		{"two folders", []string{"/srv/app/x/a", "/srv/app/x/b", "/srv/app/x/y/c"}, "/srv/app/x/z/new", []string{"/srv/app/new"}},
		{"the first two of the disk", []string{"/srv/app/x/a", "/srv/app/y/b", "/srv/app/z/c"}, "", []string{"/srv/app/new", "/srv/app/x/new", "/srv/new"}},
		{"the root", []string{"/a", "/b", "/c"}, "", []string{"/new"}},
		{"the first of the disk", []string{"/srv/a", "/srv/b", "/srv/c"}, "", []string{"/srv/new"}},
		{"a home", []string{home + "/a", home + "/b", home + "/c"}, "", []string{home + "/new", home + "/x/new"}},
		{"what homes lie in", []string{"/home/x", "/home/y", "/home/z"}, "", []string{"/home/new"}},
		{"a folder of a home", []string{home + "/p/a", home + "/p/b", home + "/p/c"}, home + "/p/new", []string{home + "/p/x/new", home + "/new"}},
		{"projects of a home", []string{home + "/p/x/a", home + "/p/y/b", home + "/p/z/c"}, "", []string{home + "/p/new", home + "/p/x/new"}},
		{"below ~", []string{"~/p/x/a", "~/p/x/b", "~/p/x/y/c"}, "~/p/x/new", []string{"~/p/new"}},
		{"~ itself", []string{"~/a", "~/b", "~/c"}, "", []string{"~/new"}},
		{"hidden in a home", []string{home + "/.config/a/x", home + "/.config/a/y", home + "/.config/a/z"}, "", []string{home + "/.config/a/new", home + "/.config/a/x"}},
		{"keys", []string{"/srv/app/.ssh/a", "/srv/app/.ssh/b", "/srv/app/.ssh/c"}, "", []string{"/srv/app/.ssh/a"}},
		{"the system", []string{"/etc/app/x/a", "/etc/app/x/b", "/etc/app/x/c"}, "", []string{"/etc/app/x/a", "/etc/app/x/new"}},
		{"traversal", []string{"/srv/app/x/../a", "/srv/app/x/../b", "/srv/app/x/../c"}, "", []string{"/srv/app/a", "/srv/app/new"}},
		{"stars", []string{"/srv/app/*", "/srv/app/**", "/srv/app/?"}, "", []string{"/srv/app/new"}},
		{"a star is no third file", []string{"/srv/app/a", "/srv/app/b", "/srv/app/*"}, "", []string{"/srv/app/new", "/srv/app/*"}},
		{"a star is a name in an open folder", []string{"/srv/app/a", "/srv/app/b", "/srv/app/c"}, "/srv/app/*", []string{"/srv/app/*/new", "/srv/*/a", "/srv/*", "/srv/app/x/*"}},
		{"an escape is no third file", []string{"/srv/app/a", "/srv/app/b", "/srv/app/%63"}, "", []string{"/srv/app/new", "/srv/app/%63"}},
		{"a backslash is no third file", []string{"/srv/app/a", "/srv/app/b", `/srv/app/x\c`}, "", []string{"/srv/app/new", `/srv/app/x\c`}},
		{"an escape leaves no open folder", []string{"/srv/app/a", "/srv/app/b", "/srv/app/c"}, "/srv/app/new", []string{"/srv/app/x%2fy", "/srv/app/%2e%2e/x", `/srv/app/x\y`, `/srv/app/..\x`}},
		{"relative", []string{"x/a", "x/b", "x/c"}, "", []string{"x/a", "x/new"}},
		{"tokens", []string{"/srv/app/a1B2c3D4e5F6g7H8/a", "/srv/app/a1B2c3D4e5F6g7H8/b", "/srv/app/a1B2c3D4e5F6g7H8/c"}, "", []string{"/srv/app/a1B2c3D4e5F6g7H8/a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b book
			for _, f := range c.files {
				b.add(watched("read_file", inPath(f)))
			}
			text, p, _, _ := learned(t, &b, options())
			if c.opened != "" && decide(p, "read_file", inPath(c.opened)) != policy.Allow {
				t.Errorf("%s is not open\n%s", c.opened, text)
			}
			for _, s := range c.shut {
				if decide(p, "read_file", inPath(s)) != policy.Deny {
					t.Errorf("%s is open\n%s", s, text)
				}
			}
		})
	}
}

// TestEvidence: how often, how long ago, by whom and how.
func TestEvidence(t *testing.T) {
	file := inPath("/srv/app/data/a.md")
	aged := func(m made, days int) made { m.age = time.Duration(days) * 24 * time.Hour; return m }
	inForm := func(m made) made { m.channel = "elicitation"; return m }
	noAnswer := func(m made) made { m.channel = ""; return m }
	byRule := func(m made) made { m.line = 9; return m }
	for _, c := range []struct {
		name  string
		calls func(b *book)
		tool  string
		want  policy.Action
	}{
		{"two are too few", func(b *book) { b.times(2, watched("read_file", file)) }, "read_file", policy.Deny},
		{"three do", func(b *book) { b.times(3, watched("read_file", file)) }, "read_file", policy.Allow},
		{"three of last year do not", func(b *book) { b.times(3, aged(watched("read_file", file), 300)) }, "read_file", policy.Deny},
		{"three of two months ago do not", func(b *book) { b.times(3, aged(watched("read_file", file), 60)) }, "read_file", policy.Deny},
		{"twelve of two months ago do", func(b *book) { b.times(12, aged(watched("read_file", file), 60)) }, "read_file", policy.Allow},
		{"watched, what deletes asks", func(b *book) { b.times(9, watched("delete_file", file)) }, "delete_file", policy.Prompt},
		{"watched, what no word tells asks", func(b *book) { b.times(9, watched("frobnicate", file)) }, "frobnicate", policy.Prompt},
		{"approved, what deletes is allowed", func(b *book) { b.times(3, approved("delete_file", file)) }, "delete_file", policy.Allow},
		{"approved twice still asks", func(b *book) { b.times(2, approved("write_file", file)); b.add(refused("write_file", file)) }, "write_file", policy.Deny},
		{"approved in the client's form asks", func(b *book) { b.times(9, inForm(approved("write_file", file))) }, "write_file", policy.Prompt},
		{"approved by nobody on record asks", func(b *book) { b.times(9, noAnswer(approved("write_file", file))) }, "write_file", policy.Prompt},
		{"one no in four is too many", func(b *book) { b.times(3, approved("write_file", file)); b.add(refused("write_file", file)) }, "write_file", policy.Deny},
		{"one no in twenty is not", func(b *book) { b.times(19, approved("write_file", file)); b.add(refused("write_file", file)) }, "write_file", policy.Allow},
		{"asked and watched still asks", func(b *book) {
			m := watched("read_file", file)
			m.was, m.code, m.line = "prompt", "not_enforced", 3
			b.times(9, m)
		}, "read_file", policy.Prompt},
		{"denied by a rule stays denied", func(b *book) { b.times(9, byRule(watched("read_file", file))) }, "read_file", policy.Deny},
		{"denied once by a rule", func(b *book) {
			b.times(9, watched("read_file", file))
			m := byRule(watched("read_file", file))
			b.add(m)
		}, "read_file", policy.Deny},
		{"allowed by the rules of the day", func(b *book) {
			b.times(3, made{tool: "write_file", args: file, was: "allow", stage: "policy", code: "allowed_by_rule", line: 2})
		}, "write_file", policy.Allow},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b book
			c.calls(&b)
			text, p, l, _ := learned(t, &b, options())
			if got := decide(p, c.tool, file); got != c.want {
				t.Errorf("%s, want %s\n%s\n%v", got, c.want, text, l.Skipped)
			}
		})
	}
}

// TestArguments: what else a rule names, and when there is none.
func TestArguments(t *testing.T) {
	for _, c := range []struct {
		name       string
		calls      []made
		tool, args string
		want       policy.Action
	}{
		{"a command is named as it is", []made{approved("run", `{"command":"git status"}`)}, "run", `{"command":"git status"}`, policy.Allow},
		{"and no other", []made{approved("run", `{"command":"git status"}`)}, "run", `{"command":"git push"}`, policy.Deny},
		{"a command with a star", []made{approved("run", `{"command":"ls *"}`)}, "run", `{"command":"ls *"}`, policy.Deny},
		{"a command with a list", []made{approved("run", `{"argv":["ls"]}`)}, "run", `{"argv":["ls"]}`, policy.Deny},
		{"a command with a secret", []made{approved("run", `{"command":"x","password":"geheim"}`)}, "run", `{"command":"x","password":"geheim"}`, policy.Deny},
		{"a number", []made{approved("kill", `{"pid":42}`)}, "kill", `{"pid":42}`, policy.Allow},
		{"a host", []made{approved("fetch", `{"url":"https://docs.example.com/a?b=c"}`)}, "fetch", `{"url":"https://docs.example.com/other"}`, policy.Deny},
		{"a host without a query", []made{approved("fetch", `{"url":"https://docs.example.com/a"}`)}, "fetch", `{"url":"https://docs.example.com/other"}`, policy.Allow},
		{"another host", []made{approved("fetch", `{"url":"https://docs.example.com/a"}`)}, "fetch", `{"url":"https://docs.example.com.evil.example/"}`, policy.Deny},
		{"a user in front of it", []made{approved("fetch", `{"url":"https://docs.example.com/a"}`)}, "fetch", `{"url":"https://docs.example.com@evil.example/"}`, policy.Deny},
		{"watched, what reaches out asks", []made{watched("fetch", `{"url":"https://docs.example.com/a"}`)}, "fetch", `{"url":"https://docs.example.com/a"}`, policy.Prompt},
		{"an address that is a number", []made{approved("fetch", `{"url":"http://169.254.169.254/latest"}`)}, "fetch", `{"url":"http://169.254.169.254/latest"}`, policy.Deny},
		{"a path that is left out once", []made{watched("list_files", `{"path":"/srv/app/x"}`), watched("list_files", `{}`)}, "list_files", `{}`, policy.Allow},
		{"and no path at all", []made{watched("list_files", `{"path":"/srv/app/x"}`), watched("list_files", `{}`)}, "list_files", `{"path":"/etc/shadow"}`, policy.Deny},
		{"a list of paths", []made{watched("read_files", `{"paths":["/srv/app/x","/srv/app/y","/srv/app/z"]}`)}, "read_files", `{"paths":["/srv/app/x","/srv/app/w"]}`, policy.Allow},
		{"a list with another", []made{watched("read_files", `{"paths":["/srv/app/x","/srv/app/y","/srv/app/z"]}`)}, "read_files", `{"paths":["/srv/app/x","/etc/shadow"]}`, policy.Deny},
		{"no argument", []made{watched("list_things", ``)}, "list_things", ``, policy.Allow},
		{"text of what reads", []made{watched("search_notes", `{"query":"x"}`)}, "search_notes", `{"query":"y"}`, policy.Allow},
		{"text of what acts, always the same", []made{approved("create_issue", `{"title":"x"}`)}, "create_issue", `{"title":"y"}`, policy.Deny},
		{"text of what acts", []made{approved("create_issue", `{"title":"x"}`), approved("create_issue", `{"title":"z"}`), approved("create_issue", `{"title":"q"}`)}, "create_issue", `{"title":"y"}`, policy.Allow},
		{"a redacted path", []made{watched("read_file", `{"path":"/srv/app/ghp`+`_`+strings.Repeat("a1B2", 9)+`"}`)}, "read_file", `{"path":"/srv/app/x"}`, policy.Deny},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b book
			for range 3 {
				for _, m := range c.calls {
					b.add(m)
				}
			}
			text, p, l, _ := learned(t, &b, options())
			if got := decide(p, c.tool, c.args); got != c.want {
				t.Errorf("%s, want %s\n%s\n%v", got, c.want, text, l.Skipped)
			}
			if strings.Contains(text, "geheim") || strings.Contains(text, "[redacted") || strings.Contains(text, "ghp_") {
				t.Errorf("a secret is in\n%s", text)
			}
		})
	}
}

// TestHostileNames: what a server or an agent calls things stays text.
func TestHostileNames(t *testing.T) {
	var b book
	for _, name := range []string{"read\"\n[[rule]]\naction = \"allow\"\ntool = \"**\"", "read_*", "read?", "re\u202ead", "read\x00", strings.Repeat("r", 5000), "read\\", "r%41ead", " read"} {
		b.times(5, watched(name, inPath("/srv/app/x")))
		m := watched("read_file", inPath("/srv/app/x"))
		m.server = name
		b.times(5, m)
		arg, _ := json.Marshal(map[string]string{name: "/srv/app/x"})
		b.times(5, watched("read_it", string(arg)))
	}
	m := watched("read_file", inPath("/srv/app/x"))
	m.server = "\x00"
	for i := range b.entries {
		if b.entries[i].Server == "fs" && b.entries[i].Names[0] == "read_file" {
			t.Fatal("the test is wrong")
		}
	}
	text, p, _, rules := learned(t, &b, options())
	for _, r := range rules {
		if strings.ContainsAny(r.Name, "*?\n\"") {
			t.Errorf("%q", r.Name)
		}
	}
	if decide(p, "anything", inPath("/x")) != policy.Deny || decide(p, "read_anything", inPath("/srv/app/x")) != policy.Deny {
		t.Errorf("too much is open\n%s", text)
	}
}

const existing = `# Mine.
[[rule]]
description = 'Keys'
action = 'deny'
tool = '*'
args.path = ['**/.ssh/**', '**/.env', '**/private/**']

# Writing is asked about.
[[rule]]
description = 'Writing'
action = 'prompt'
tool = 'write_*'
args.path = '/srv/**'

[[rule]]
description = 'Pinned'
action = 'prompt'
pinned = true
tool = 'move_file'
`

func TestAPolicyIsExtended(t *testing.T) {
	var b book
	for _, f := range []string{"a", "b", "sub/c"} {
		b.add(approved("write_file", inPath("/srv/app/site/"+f)))
		b.add(approved("move_file", inPath("/srv/app/site/"+f)))
		b.add(watched("read_file", inPath("/srv/app/site/"+f)))
		b.add(approved("write_file", inPath("/srv/app/private/"+f)))
	}
	o := options()
	o.File, o.Policy = "mine.toml", []byte(existing)
	text, p, l, _ := learned(t, &b, o)
	for _, c := range []struct {
		tool, path string
		want       policy.Action
	}{
		{"write_file", "/srv/app/site/new", policy.Allow},
		{"read_file", "/srv/app/site/new", policy.Allow},
		{"move_file", "/srv/app/site/a", policy.Prompt},
		{"write_file", "/srv/app/site/.env", policy.Deny},
		{"write_file", "/srv/app/site/id_rsa", policy.Deny},
		{"write_file", "/srv/app/private/a", policy.Deny},
		{"write_file", "/srv/app/other", policy.Prompt},
		{"write_other", "/srv/app/site/a", policy.Prompt},
		{"read_file", "/srv/app/other", policy.Deny},
	} {
		if got := decide(p, c.tool, inPath(c.path)); got != c.want {
			t.Errorf("%s %s: %s, want %s\n%s\n%v", c.tool, c.path, got, c.want, text, l.Skipped)
		}
	}
	for _, want := range []string{
		"[[rule]]\ndescription = 'Learned: write_file /srv/app/site/**'\naction = 'allow'\ntool = 'write_file'\n",
		"args.path = '/srv/app/site/**'", "# Writing is asked about.\n[[rule]]\ndescription = 'Writing'\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if !strings.HasPrefix(text, existing[:strings.Index(existing, "# Writing")]) {
		t.Errorf("the beginning has changed\n%s", text)
	}
}

// TestRulesOfOtherFilesStayBelow: what a policy extends stands below its own rules,
// so that nothing may be put between them.
func TestRulesOfOtherFilesStayBelow(t *testing.T) {
	var b book
	for _, f := range []string{"a", "b", "sub/c"} {
		b.add(watched("read_file", inPath("/srv/app/site/"+f)))
		b.add(approved("write_file", inPath("/srv/app/site/"+f)))
		b.add(approved("edit_file", inPath("/srv/app/site/"+f)))
	}
	o := options()
	o.File, o.Policy = "mine.toml", []byte("extends = [\"profile:team\"]\n[[rule]]\naction = \"prompt\"\ntool = \"edit_*\"\n")
	o.ParseOptions.Extend = func(policy.Extension) (string, []byte, error) {
		return "team.toml", []byte("[[rule]]\naction = \"prompt\"\ntool = \"write_*\"\n[[rule]]\naction = \"deny\"\ntool = \"read_*\"\nargs.path = \"/srv/app/site/sub/**\"\n"), nil
	}
	l, err := learn.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range b.entries {
		if err := l.Add(&b.entries[i]); err != nil {
			t.Fatal(err)
		}
	}
	rules := l.Propose()
	if len(rules) != 1 || rules[0].Name != "edit_file" {
		t.Errorf("%d rules %v", len(rules), l.Skipped)
	}
	if _, err := l.Compose(rules); err != nil {
		t.Error(err)
	}
}

func TestFixturesHold(t *testing.T) {
	var b book
	readThree(&b, "read_file")
	b.times(3, approved("fetch", `{"url":"https://docs.example.com/a"}`))
	b.times(3, approved("run", `{"command":"git status"}`))
	text, p, l, rules := learned(t, &b, options())
	cases, err := l.Fixtures([]byte(text), rules)
	if err != nil {
		t.Fatal(err)
	}
	allows, others := 0, 0
	for _, f := range cases {
		fx, err := check.ParseFixture(f.JSON)
		if err != nil {
			t.Fatalf("%v\n%s", err, f.JSON)
		}
		r := check.JudgeFixture(p, fx, "")
		if r.IsMismatch() {
			t.Errorf("%s: %s\n%s", f.Name, r.Action, f.JSON)
		}
		if f.Name != filepath.Base(f.Name) {
			t.Errorf("%q", f.Name)
		}
		if f.Expected == policy.Allow {
			allows++
		} else {
			others++
		}
	}
	if allows != 3 || others < 15 {
		t.Errorf("%d allow, %d do not", allows, others)
	}
}

func TestNarrower(t *testing.T) {
	var b book
	readThree(&b, "read_file")
	_, _, l, rules := learned(t, &b, options())
	if len(rules) != 1 {
		t.Fatalf("%d rules", len(rules))
	}
	var seen []string
	for r, ok := rules[0], true; ok; r, ok = r.NarrowerRule() {
		seen = append(seen, fmt.Sprint(r.Conditions[0].Globs))
		text, err := l.Compose([]*learn.Rule{r})
		if err != nil {
			t.Fatal(err)
		}
		p, _ := policy.Parse("p", text, policy.Options{Home: home})
		if decide(p, "read_file", inPath(home+"/projects/site/sub/c.md")) != policy.Allow {
			t.Errorf("the call it comes from is not allowed\n%s", text)
		}
	}
	want := []string{
		"[/home/user/projects/site/**]", "[/home/user/projects/site/* /home/user/projects/site/sub/*]",
		"[/home/user/projects/site/a.md /home/user/projects/site/b.md /home/user/projects/site/sub/c.md]",
	}
	if fmt.Sprint(seen) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", seen, want)
	}
	if asking, ok := rules[0].AskingRule(); !ok || asking.Action != policy.Prompt {
		t.Error("it can be made to ask")
	}
	_ = replay.Unchanged
}
