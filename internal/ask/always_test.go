//go:build linux || darwin

package ask

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/ask/remember"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
)

const policyBefore = `# My rules. Keep this comment.

[[rule]]
action = "deny"
tool = "shell_*"

# Writing is asked about,
# every time.
[[rule]]
	action = "prompt"   # odd   spacing
	tool = "write_*"
	server = "files"
	args.path = "/home/user/**"
	description = "Ask before writes"

[[rule]]
action = "allow"
tool = "read_*"
`

const writeArgs = `{"path":"/home/user/a.txt","content":"hi \"you\""}`

// asksFor is a question of the rule that the policy text asks by.
func asksFor(t *testing.T, src, args string) (order, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.toml")
	if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := policy.Parse(path, []byte(src), policy.Options{Home: "/home/user"})
	if err != nil {
		t.Fatal(err)
	}
	o := writeCall(args)
	o.Policy, o.Options.View.Project = path, "/home/user"
	d := p.Decide(&o.Question.Calls[0])
	if d.Action != policy.Prompt {
		t.Fatalf("the test's policy says %v", d.Action)
	}
	o.Question.Rule, o.Question.Revision = *d.Rule, p.Revision()
	return o, path
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// pick chooses an entry of the page in sight.
func (s *session) pick(entry string, downs int) {
	s.t.Helper()
	s.see(entry, "> Deny")
	s.answer(strings.Repeat(down, downs))
	s.see("> " + entry)
	s.press(enter)
}

// walkToAlways picks "always" and how far it goes, the first scope.
func (s *session) walkToAlways() {
	s.t.Helper()
	s.pick("Always allow…", 3)
	s.see("always allow how much?", "> Deny, write nothing")
	s.answer(down + enter)
	s.see("clawai asks: write this rule and allow?")
}

func TestAlwaysWritesOneRuleAboveTheOneThatAsked(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	o, path := asksFor(t, policyBefore, writeArgs)
	s := start(t, o, 40, 200)
	s.pick("Always allow…", 3)
	s.see("always allow how much?", `exact      this exact call, "write_file" on "files" with the same path and content`,
		`tool       "write_file" on "files" with path in "/home/user/" and below;`, "> Deny, write nothing", "This exact call", "Its folder", "All of it")
	s.answer(down)
	s.see("> This exact call")
	s.press(enter)
	s.see("This rule would be written", "[[rule]]", `action = "allow"`, `tool = "write_file"`, `server = "files"`,
		`args.path = "/home/user/a.txt"`, `args.content = "hi \"you\""`, "Arguments it does not name stay open",
		`another_argument = "anything"`, "clawai asks: write this rule and allow?", "> Deny, write nothing")
	if read(t, path) != policyBefore {
		t.Fatal("the file was written before the rule was confirmed")
	}
	s.answer(down)
	s.see("> Write the rule and allow")
	s.press(enter)
	out := s.end()
	if out.Reply != gate.AllowAlways || out.Err != "" || out.Note != "wrote a rule to allow (exact) above policy.toml:9" {
		t.Errorf("got %+v", out)
	}
	after := read(t, path)
	at := strings.Index(policyBefore, "# Writing is asked about")
	if !strings.HasPrefix(after, policyBefore[:at]) || !strings.HasSuffix(after, policyBefore[at:]) {
		t.Fatalf("what stood there was changed:\n%s", after)
	}
	p, err := policy.Parse(path, []byte(after), policy.Options{Home: "/home/user"})
	if err != nil {
		t.Fatal(err)
	}
	if d := p.Decide(&o.Question.Calls[0]); d.Action != policy.Allow {
		t.Errorf("the call is not allowed now: %+v", d)
	}
	for _, change := range []func(*policy.Call){
		func(c *policy.Call) { c.Names = []string{"write_other"} },
		func(c *policy.Call) { c.Server = "other" },
		func(c *policy.Call) { c.Args = []byte(strings.Replace(writeArgs, "a.txt", "b.txt", 1)) },
		func(c *policy.Call) { c.Args = []byte(strings.Replace(writeArgs, "hi", "ho", 1)) },
	} {
		c := o.Question.Calls[0]
		change(&c)
		if d := p.Decide(&c); d.Action == policy.Allow {
			t.Errorf("another call is allowed too: %+v %s", c, c.Args)
		}
	}
}

// What is picked is what is written, and the page says what else it means.
func TestScopes(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	for _, c := range []struct {
		name         string
		entry, downs int
		sees         []string
		want         gate.Reply
		line, note   string
	}{
		{"its folder", 3, 3, []string{`args.path = "/home/user/*"`, `path directly in "/home/user/"`, `content = "something else"`}, gate.AllowAlways,
			`args.path = "/home/user/*"`, "wrote a rule to allow (folder) above policy.toml:9"},
		{"all of it", 3, 4, []string{`args.path = "/home/user/**"`, "/home/user/.bashrc"}, gate.AllowAlways,
			`action = "allow"`, "wrote a rule to allow (tool) above policy.toml:9"},
		{"deny the call", 4, 1, []string{`action = "deny"`, `args.content`, "write this rule and deny?", "> Deny once, write nothing"}, gate.DenyAlways,
			`args.path = "/home/user/a.txt"`, "wrote a rule to deny (exact) above policy.toml:9"},
		{"its file", 3, 2, []string{`args.path = "/home/user/a.txt"`, `content = "something else"`}, gate.AllowAlways,
			`description = "Write ~/a.txt, any content"`, "wrote a rule to allow (file) above policy.toml:9"},
		{"deny all of it", 4, 4, []string{`action = "deny"`, "It denies"}, gate.DenyAlways,
			`description = "Never write files below ~"`, "wrote a rule to deny (tool) above policy.toml:9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, path := asksFor(t, policyBefore, writeArgs)
			s := start(t, o, 40, 200)
			s.pick([]string{"Always allow…", "Always deny…"}[c.entry-3], c.entry)
			s.see("how much?")
			s.answer(strings.Repeat(down, c.downs) + enter)
			s.see(append(c.sees, "This rule would be written")...)
			s.answer(down + enter)
			if out := s.end(); out.Reply != c.want || out.Note != c.note || out.Err != "" {
				t.Errorf("got %+v", out)
			}
			if after := read(t, path); !strings.Contains(strings.TrimSuffix(after, policyBefore[strings.Index(policyBefore, "# Writing"):]), c.line) {
				t.Errorf("wrote\n%s", after)
			}
		})
	}
}

// Nothing is written for one who turns back on the page of scopes.
func TestScopesPresetDeny(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	for _, keys := range []string{enter, esc, down + esc} {
		o, path := asksFor(t, policyBefore, writeArgs)
		s := start(t, o, 40, 200)
		s.pick("Always allow…", 3)
		s.see("how much?", "> Deny, write nothing")
		s.answer(keys)
		if out := s.end(); out.Reply != gate.DenyOnce || out.Err != "" {
			t.Errorf("%q: got %+v", keys, out)
		}
		if read(t, path) != policyBefore {
			t.Error("the file was written")
		}
	}
}

func TestAlwaysIsConfirmed(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	for name, c := range map[string]struct {
		keys string
		want gate.Reply
	}{
		"return denies": {enter, gate.DenyOnce},
		"escape denies": {down + esc, gate.DenyOnce},
		"once instead":  {down + down + enter, gate.AllowOnce},
	} {
		t.Run(name, func(t *testing.T) {
			o, path := asksFor(t, policyBefore, writeArgs)
			s := start(t, o, 40, 80)
			s.walkToAlways()
			s.see("> Deny, write nothing")
			s.answer(c.keys)
			if out := s.end(); out.Reply != c.want || out.Err != "" {
				t.Errorf("got %+v", out)
			}
			if read(t, path) != policyBefore {
				t.Error("the file was written")
			}
		})
	}
}

func TestAlwaysPlain(t *testing.T) {
	t.Parallel()
	o, path := asksFor(t, policyBefore, writeArgs)
	s := start(t, o, 60, 80, "TERM=dumb")
	s.prompt("always")
	s.press("always\n")
	s.prompt("how much?", "folder")
	s.press("exact\n")
	s.prompt(`args.path = "/home/user/a.txt"`, "write this rule")
	s.press("write\n")
	if out := s.end(); out.Reply != gate.AllowAlways {
		t.Errorf("got %+v", out)
	}
	if read(t, path) == policyBefore {
		t.Error("the file was not written")
	}
}

func TestAlwaysIsNotOffered(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	stars := policyBefore
	for name, c := range map[string]struct{ src, args, why string }{
		"another rule asks too": {stars + "\n[[rule]]\naction='prompt'\ntool='*'\nargs.path='/b'", `{"path":["/home/user/a","/b"]}`, "is a list"},
	} {
		t.Run(name, func(t *testing.T) {
			o, _ := asksFor(t, c.src, c.args)
			s := start(t, o, 24, 80)
			s.see("always     not offered: ", c.why, "> Deny")
			if strings.Contains(s.screen.Text(), "Always allow") {
				t.Error("offered")
			}
			s.answer(esc)
			s.end()
		})
	}
	t.Run("a changed file", func(t *testing.T) {
		o, path := asksFor(t, policyBefore, writeArgs)
		if err := os.WriteFile(path, []byte("\n"+policyBefore), 0o600); err != nil {
			t.Fatal(err)
		}
		s := start(t, o, 24, 80)
		s.see("not offered: the policy file has changed")
		s.answer(esc)
		s.end()
	})
}

// A rule that would have let a denied call through is not written, the person
// is told, and may still allow the one call.
func TestAlwaysKeepsWhatWasDenied(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	// The rule below denies; an allow above the prompt would shield it.
	src := strings.Replace(policyBefore, `	args.path = "/home/user/**"`+"\n", "", 1) + `
[[rule]]
action = "deny"
tool = "*"
`
	src = strings.Replace(src, "[[rule]]\n\taction", "[[rule]]\naction = \"deny\"\ntool = \"write_*\"\nargs.force = \"true\"\n\n[[rule]]\n\taction", 1)
	call := func(args string) policy.Call {
		return policy.Call{Server: "files", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"write_file"}, Args: []byte(args)}
	}
	for name, c := range map[string]struct {
		denied remember.DeniedCall
		told   string
	}{
		"a redacted value counts as ours": {
			remember.DeniedCall{Call: call(`{"path":"/home/user/a.txt","content":"[redacted:member:9]","secret":"[redacted:x:1]"}`)},
			"would also let through a call that the policy denied"},
		"what was cut counts as ours": {
			remember.DeniedCall{Call: call(`{"path":"/home/user/a.txt"}`), Cut: true},
			"would also let through a call that the policy denied"},
		"arguments that are not an object": {
			remember.DeniedCall{Call: call(`"[cut:"`), Cut: true},
			"would also let through a call that the policy denied"},
		"a damaged record": {
			remember.DeniedCall{Call: policy.Call{Method: "damaged"}}, "the record cannot be read whole"},
	} {
		t.Run(name, func(t *testing.T) {
			o, path := asksFor(t, src, writeArgs)
			o.Denied = []remember.DeniedCall{{Call: call(`{"path":"/other"}`)}, c.denied}
			s := start(t, o, 40, 80)
			s.walkToAlways()
			s.see("> Deny, write nothing")
			s.answer(down + enter)
			s.see("Nothing is written.", c.told, "> Deny")
			s.answer(down + enter)
			if out := s.end(); out.Reply != gate.AllowOnce {
				t.Errorf("got %+v", out)
			}
			if read(t, path) != src {
				t.Error("the file was written")
			}
		})
	}
}

func TestDeniedCallsThatStayDeniedDoNotStand(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	o, path := asksFor(t, policyBefore, writeArgs)
	c := o.Question.Calls[0]
	other, shell := c, c
	other.Args = []byte(`{"path":"/etc/passwd","content":"[redacted:member:9]"}`)
	shell.Names, shell.Args = []string{"shell_run"}, nil
	// This very call was denied under an earlier policy; now it is asked about.
	o.Denied = []remember.DeniedCall{{Call: other}, {Call: shell}, {Call: c}}
	s := start(t, o, 40, 80)
	s.walkToAlways()
	s.see("> Deny, write nothing")
	s.answer(down + enter)
	if out := s.end(); out.Reply != gate.AllowAlways {
		t.Errorf("got %+v", out)
	}
	if read(t, path) == policyBefore {
		t.Error("the file was not written")
	}
}

func TestAlwaysDoesNotOverwriteAnEdit(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	o, path := asksFor(t, policyBefore, writeArgs)
	s := start(t, o, 40, 80)
	s.walkToAlways()
	s.see("> Deny, write nothing")
	edited := policyBefore + "\n# an edit made meanwhile\n"
	if err := os.WriteFile(path, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	s.answer(down + enter)
	s.see("Nothing is written.", "the policy file has changed", "> Deny")
	s.answer(enter)
	if out := s.end(); out.Reply != gate.DenyOnce {
		t.Errorf("got %+v", out)
	}
	if read(t, path) != edited {
		t.Error("the edit was lost")
	}
}

// "For this session" asks how far, the folder first and Deny preset, and writes nothing.
func TestSessionAsksHowFar(t *testing.T) {
	slow.Test(t)
	for entry, downs := range map[string]int{"Write files below ~/p": 1, "This exact call": 2, "Write ~/p/a.txt, any content": 3, "Write files below ~": 4} {
		o, path := asksFor(t, policyBefore, `{"path":"/home/user/p/a.txt","content":"hi"}`)
		s := start(t, o, 40, 120)
		s.see("Allow for this session… (shows how far)")
		s.pick("Allow for this session… (shows how far)", 2)
		s.see("allow how much, until the session ends?", "> Deny", "Esc deny", "What a rule denies stays denied", "Write files below ~/p", "This exact call", "Write ~/p/a.txt, any content")
		s.answer(strings.Repeat(down, downs))
		s.see("> " + entry)
		s.press(enter)
		if out := s.end(); out.Reply != gate.AllowSession || out.Err != "" {
			t.Errorf("%s: %+v", entry, out)
		}
		if read(t, path) != policyBefore {
			t.Error("a rule was written")
		}
	}
	o, _ := asksFor(t, policyBefore, `{"path":"/home/user/p/a.txt","content":"hi"}`)
	s := start(t, o, 40, 120)
	s.pick("Allow for this session… (shows how far)", 2)
	s.see("allow how much, until the session ends?", "> Deny")
	s.answer(enter)
	if out := s.end(); out.Reply != gate.DenyOnce || out.Err != "" {
		t.Errorf("the preset: %+v", out)
	}
}
