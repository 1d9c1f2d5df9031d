package learn_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/check/learn"
	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
)

// pick takes one of several.
func pick[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

var (
	someTools = []string{"read_file", "list_dir", "write_file", "edit_file", "delete_file", "run", "fetch", "read_files", "frob", "move_file"}
	someDirs  = []string{"/srv/app", "/srv/app/x", "/srv/app/x/y", "/srv", "/", home, home + "/p", home + "/p/site", home + "/p/site/css", home + "/.config/z", "/etc/app/x", "/home", "~/p/q", "/home/user2/p/q"}
	someNames = []string{"a", "b", "c.md", "d.md", ".env", "id_rsa", "with space", "e..f", "ünï"}
	odd       = []string{"/srv/app/../../etc/passwd", "/srv/app/%2e%2e/x", "/srv//app/x", "../x", "x/y", "C:\\x\\y", "", "/srv/app/*", "file:///srv/app/x", "/srv/app/\u202ex", "[redacted:x:3]", "https://docs.example.com/a", "https://a.b@c.example/", "http://127.0.0.1/"}
)

func someValue(r *rand.Rand) string {
	if r.IntN(6) == 0 {
		return pick(r, odd...)
	}
	if r.IntN(2) == 0 {
		return path.Join(pick(r, "/srv/app/x", home+"/p/site"), pick(r, "a", "b", "c.md", "d.md", "y/e"))
	}
	return path.Join(pick(r, someDirs...), pick(r, someNames...))
}

func someArgs(r *rand.Rand, tool string) string {
	args := map[string]any{}
	switch tool {
	case "run":
		args["command"] = pick(r, "git status", "ls", "rm -rf /", "make *")
	case "read_files":
		args["paths"] = []string{someValue(r), someValue(r)}
	case "move_file":
		args["source"], args["destination"] = someValue(r), someValue(r)
	case "fetch":
		args["url"] = pick(r, "https://docs.example.com/a", "https://docs.example.com/b", "https://x.example.org/", someValue(r))
	default:
		args["path"] = someValue(r)
	}
	if r.IntN(4) == 0 {
		args["content"] = pick(r, "x", strings.Repeat("y", 5000), "/* a */")
	}
	b, _ := json.Marshal(args)
	return string(b)
}

func someRecord(r *rand.Rand) *book {
	var b book
	for range 20 + r.IntN(300) {
		tool := pick(r, someTools...)
		m := pick(r, watched, watched, approved, approved, approved, refused)(tool, someArgs(r, tool))
		if r.IntN(15) == 0 {
			m.line, m.was, m.code = 7, "deny", "not_enforced"
		}
		if r.IntN(10) == 0 {
			m.channel = "elicitation"
		}
		m.age = time.Duration(r.IntN(60)) * 24 * time.Hour
		m.server = pick(r, "fs", "fs", "fs", "other")
		b.times(1+r.IntN(3), m)
	}
	return &b
}

// rounds is how many records the properties are tried on.
func rounds() int { return slow.Rounds(20, 1000) }

// callOf is a call as the record has it.
func callOf(server, tool, args string) policy.Call {
	return policy.Call{Server: server, Method: "tools/call", Subject: policy.ToolSubject, Names: []string{tool}, Args: []byte(args)}
}

// TestWhatIsLearnedIsAnswered: every call that a rule says it was learned from is
// answered by the policy as the rule says.
func TestWhatIsLearnedIsAnswered(t *testing.T) {
	slow.Test(t)
	r := rand.New(rand.NewPCG(3, 4))
	rules, fixtures := 0, 0
	for range rounds() {
		b := someRecord(r)
		o := options()
		o.Observed = pick(r, learn.AskAlways, learn.AllowReads, learn.AllowActs)
		text, _, l, found := learned(t, b, o)
		cases, err := l.Fixtures([]byte(text), found)
		if err != nil {
			t.Fatal(err)
		}
		rules += len(found)
		for _, f := range cases {
			if f.What == "as recorded" && f.Expected != f.Of.Action {
				// A stricter rule may stand above for another reading of it; never a looser one.
				// The elements of a list may each be allowed by a rule of their own.
				if f.Expected > f.Of.Action && !strings.Contains(string(f.JSON), `"paths"`) {
					t.Fatalf("%s, the rule says %s\n%s\n%s", f.Expected, f.Of.Action, f.JSON, text)
				}
			}
			fixtures++
		}
	}
	if rules < 80 || fixtures < 300 {
		t.Errorf("%d rules and %d fixtures show too little", rules, fixtures)
	}
}

// TestNothingOutsideTheBound: of calls of every shape, those that a learned policy
// allows are of a tool and a server that were seen, and in a folder from which
// enough files were seen, or exactly as they were seen.
func TestNothingOutsideTheBound(t *testing.T) {
	slow.Test(t)
	r := rand.New(rand.NewPCG(5, 6))
	allowed := 0
	for range rounds() {
		b := someRecord(r)
		o := options()
		o.Observed = learn.AllowActs
		text, p, _, _ := learned(t, b, o)
		tools, files := map[string]bool{}, map[string]map[string]bool{}
		denied := map[string]bool{}
		for i := range b.entries {
			e := &b.entries[i]
			if e.Kind != "decision" {
				continue
			}
			if e.RuleLine == 7 {
				denied[e.Server+e.Names[0]+string(e.Args)] = true
				continue
			}
			tools[e.Server+" "+e.Names[0]] = true
			var args map[string]any
			_ = json.Unmarshal(e.Args, &args)
			for _, v := range texts(args) {
				if files[e.Server] == nil {
					files[e.Server] = map[string]bool{}
				}
				files[e.Server][fileOf(v)] = true
			}
		}
		for i := range b.entries {
			e := &b.entries[i]
			if e.Kind != "decision" || !denied[e.Server+e.Names[0]+string(e.Args)] {
				continue
			}
			c := callOf(e.Server, e.Names[0], string(e.Args))
			if d := p.Decide(&c); d.Action != policy.Deny {
				t.Fatalf("%s of what a rule denied: %s\n%s", d.Action, e.Args, text)
			}
		}
		for range 1200 {
			server, tool := pick(r, "fs", "other", "third"), pick(r, append(someTools, "read_file_", "unseen")...)
			args := someArgs(r, tool)
			c := callOf(server, tool, args)
			if p.Decide(&c).Action != policy.Allow {
				continue
			}
			allowed++
			if !tools[server+" "+tool] {
				t.Fatalf("%s on %s was never seen and is allowed\n%s", tool, server, text)
			}
			var m map[string]any
			_ = json.Unmarshal([]byte(args), &m)
			for name, v := range m {
				for _, s := range texts(map[string]any{name: v}) {
					if name != "content" && !narrowGlobs(fileOf(s), files[server]) {
						t.Fatalf("%s %s with %s = %q is allowed, and was not seen nor enough beside it\n%s", tool, args, name, s, text)
					}
				}
			}
		}
	}
	if allowed < 150 {
		t.Errorf("only %d calls were allowed: the test shows too little", allowed)
	}
}

func texts(args map[string]any) (all []string) {
	for _, v := range args {
		switch v := v.(type) {
		case string:
			all = append(all, v)
		case []any:
			for _, e := range v {
				all = append(all, fmt.Sprint(e))
			}
		}
	}
	return all
}

// fileOf is the path of a file URI and of a path below "~": a rule for the path opens these too.
func fileOf(s string) string {
	if below, ok := strings.CutPrefix(s, "~/"); ok {
		return home + "/" + below
	}
	return strings.TrimPrefix(s, "file://")
}

// narrowGlobs is the bound, told in another way than it is kept. A star in a call is a character of
// a name: a folder with enough other files opens it, and that it was seen does not.
func narrowGlobs(s string, seen map[string]bool) bool {
	if strings.ContainsAny(s, "%\\") || strings.Contains(s, "..") && !strings.Contains(s, "e..f") || strings.Contains(s, ".env") || strings.Contains(s, "id_rsa") {
		return false
	}
	if seen[s] && !strings.Contains(s, "*") {
		return true
	}
	if strings.HasPrefix(s, "https://docs.example.com/") {
		return true
	}
	for dir := path.Dir(s); ; dir = path.Dir(dir) {
		depth := strings.Count(dir, "/")
		if dir == "/" || dir == "." || dir == home || dir == "/home" || dir == "/srv" || strings.HasPrefix(dir, "/etc") || strings.HasPrefix(dir, home+"/.") {
			return false
		}
		below := 0
		for f := range seen {
			if strings.HasPrefix(f, dir+"/") && !strings.ContainsAny(f, "%\\*") {
				below++
			}
		}
		direct := path.Dir(s) == dir
		if below >= learn.MinFiles && (direct || depth >= 3) {
			return true
		}
	}
}

// TestADenyIsProvedUnchanged is the same for all calls that the policies can tell
// apart, by proof: no class of calls that a rule denied is answered otherwise.
func TestADenyIsProvedUnchanged(t *testing.T) {
	slow.Test(t)
	r := rand.New(rand.NewPCG(9, 10))
	classes, undecided := 0, 0
	for range rounds() {
		src := somePolicy(r)
		old, err := policy.Parse("mine.toml", []byte(src), policy.Options{Home: home})
		if err != nil {
			t.Fatal(err)
		}
		o := options()
		o.Observed, o.File, o.Policy = learn.AllowActs, "mine.toml", []byte(src)
		text, next, _, _ := learned(t, someRecord(r), o)
		for _, c := range prove.Difference(old, next, prove.Options{}) {
			if c.Undecided {
				undecided++
				continue
			}
			classes++
			if c.Old.Action == policy.Deny && c.Old.Rule != nil && c.New.Action != policy.Deny {
				t.Fatalf("%v\n%s\n---\n%s", c.Witness, src, text)
			}
		}
	}
	if classes < 30 || undecided > classes {
		t.Errorf("%d classes, %d undecided: the test shows too little", classes, undecided)
	}
}

// TestADenyIsNeverChanged: whatever policy is extended by whatever record, no
// call that one of its rules denies is answered otherwise after.
func TestADenyIsNeverChanged(t *testing.T) {
	slow.Test(t)
	r := rand.New(rand.NewPCG(7, 8))
	changed, written, calls := 0, 0, 0
	for range 2 * rounds() {
		src := somePolicy(r)
		old, err := policy.Parse("mine.toml", []byte(src), policy.Options{Home: home})
		if err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		b := someRecord(r)
		o := options()
		o.Observed, o.File, o.Policy = pick(r, learn.AllowReads, learn.AllowActs), "mine.toml", []byte(src)
		text, next, _, rules := learned(t, b, o)
		written += len(rules)
		for _, line := range strings.Split(src, "\n") {
			if !strings.Contains(text, line) {
				t.Fatalf("%q is gone\n%s", line, text)
			}
		}
		judge := func(c policy.Call) {
			calls++
			was, is := old.Decide(&c), next.Decide(&c)
			// What no rule denies may come to be asked about; a value that opens
			// nothing meets the rule that asks, and is allowed by none.
			byRule := was.Action == policy.Deny && was.Rule != nil
			if byRule && is.Action != policy.Deny || was.Action == policy.Deny && was.Reason != "" && is.Action == policy.Allow {
				t.Fatalf("%s, denied before by %+v %s: %s %s\n%s\n---\n%s", is.Action, was.Rule, was.Reason, c.Names[0], c.Args, src, text)
			}
			if was.Rule != nil && was.Rule.Pinned && was.Action != policy.Deny && is.Action > was.Action {
				t.Fatalf("a pinned rule is overruled: %s %s\n%s", c.Names[0], c.Args, text)
			}
			if was.Action != is.Action {
				changed++
			}
		}
		for i := range b.entries {
			if e := &b.entries[i]; e.Kind == "decision" {
				judge(callOf(e.Server, e.Names[0], string(e.Args)))
			}
		}
		for range 300 {
			tool := pick(r, someTools...)
			judge(callOf(pick(r, "fs", "other", ""), tool, someArgs(r, tool)))
		}
	}
	if written < 80 || changed < 80 {
		t.Errorf("%d rules, %d of %d calls changed: the test shows too little", written, changed, calls)
	}
}

// FuzzAdd: whatever stands in a record, what is learned loads, names one tool of one
// server, and opens neither another nor what a place beside it could be.
func FuzzAdd(f *testing.F) {
	f.Add("fs", "read_file", "path", "/srv/app/x/a", false)
	f.Add("fs", "read_file", "path", home+"/projects/../.ssh/id", false)
	f.Add("f\"s", "read\n[[rule]]", "pa.th", "/srv/*", true)
	f.Add("fs", "run", "command", "ls; rm -rf /", true)
	f.Add("fs", "fetch", "url", "https://docs.example.com@evil.example/", true)
	f.Fuzz(func(t *testing.T, server, tool, arg, value string, asked bool) {
		if server == "" {
			return // the book would name it
		}
		var b book
		for _, suffix := range []string{"", "1", "2", "/x/3", "/y/4"} {
			args, _ := json.Marshal(map[string]string{arg: value + suffix})
			m := watched(tool, string(args))
			if asked {
				m = approved(tool, string(args))
			}
			m.server = server
			b.times(3, m)
		}
		o := options()
		o.Observed = learn.AllowActs
		text, p, _, rules := learned(t, &b, o)
		for _, r := range rules {
			if r.Name != tool || r.Server != server || strings.ContainsAny(r.Name+r.Server, "*?") {
				t.Errorf("%q on %q\n%s", r.Name, r.Server, text)
			}
		}
		for _, c := range []policy.Call{callOf(server, tool+"x", "{}"), callOf(server+"x", tool, "{}"), callOf(server, tool, `{"path":"/etc/passwd"}`)} {
			if arg == "path" && p.Decide(&c).Action == policy.Allow || c.Names[0] != tool && p.Decide(&c).Action == policy.Allow {
				t.Errorf("%+v is allowed\n%s", c, text)
			}
		}
	})
}

func somePolicy(r *rand.Rand) string {
	var b strings.Builder
	globs := []string{"/srv/**", "**/.env", "/srv/app/*", home + "/**", "~/p/**", "**", "/srv/app/x/**", "**/c.md"}
	for range 1 + r.IntN(6) {
		action := pick(r, "prompt", "prompt", "deny", "allow")
		fmt.Fprintf(&b, "[[rule]]\naction = %q\ntool = %q\n", action, pick(r, "*", "read_*", "write_file", "*_file", "run", "**"))
		if r.IntN(2) == 0 {
			fmt.Fprintf(&b, "args.path = %q\n", pick(r, globs...))
		}
		if r.IntN(4) == 0 {
			fmt.Fprintf(&b, "server = %q\n", pick(r, "fs", "*"))
		}
		if r.IntN(6) == 0 {
			b.WriteString("pinned = true\n")
		}
		if r.IntN(6) == 0 {
			fmt.Fprintf(&b, "where.content.max_length = 100\n")
		}
	}
	return b.String()
}
