package remember

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
)

const owner = "/home/user"

func day() time.Time { return time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC) }

// ask gives a Writer of the policy text and the question that its rules ask
// about the call.
func ask(t testing.TB, src string, c policy.Call) (*Writer, gate.Question) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.toml")
	if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	k := &Writer{Policy: path, Options: policy.Options{Home: owner}, Denied: record(nil), Now: day}
	return k, question(t, k, c)
}

// question is what the policy file asks about a call now.
func question(t testing.TB, k *Writer, c policy.Call) gate.Question {
	t.Helper()
	p, err := policy.Parse(k.Policy, []byte(holds(t, k.Policy)), k.Options)
	if err != nil {
		t.Fatal(err)
	}
	d := p.Decide(&c)
	if d.Action != policy.Prompt {
		t.Fatalf("the test's policy says %v", d.Action)
	}
	return gate.Question{Calls: []policy.Call{c}, Rule: *d.Rule, Revision: p.Revision()}
}

func holds(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func tool(name, args string) policy.Call {
	return policy.Call{Server: "files", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{name}, Args: []byte(args)}
}

// A rule that lists its further arguments does not say that any may come.
func TestOffersOfClosedArguments(t *testing.T) {
	for _, c := range []struct {
		rule string
		call policy.Call
		want []string
	}{
		{"tool='write_*'\nargs.path='~/**'\nargs_only=['path','content','mode']", tool("write_file", `{"path":"/home/user/x/a.txt","content":"hi"}`), []string{
			`this exact call, "write_file" on "files" with the same path and content; mode may come with it`,
			`"write_file" on "files" with path as "/home/user/x/a.txt"; content and mode may be anything`,
			`"write_file" on "files" with path in "/home/user/x/" and below; content and mode may be anything`,
			`"write_file" on "files" with path in "~/" and below; content and mode may be anything`}},
		{"tool='write_*'\nargs.path='~/**'\nargs_only=true", tool("write_file", `{"path":"/home/user/x/a.txt"}`), []string{
			`this exact call, "write_file" on "files" with the same path`,
			`"write_file" on "files" with path in "/home/user/x/" and below`,
			`"write_file" on "files" with path in "~/" and below`}},
		{"tool='look'\nargs_only=true", tool("look", `{}`), []string{`this exact call, "look" on "files"`}},
		{"tool='look'\nargs_only=['at']", tool("look", `{}`), []string{`this exact call, "look" on "files"; at may come with it`}},
		{"tool='look'\nargs_only=['at','by']", tool("look", `{"at":"x"}`), []string{`this exact call, "look" on "files" with the same at; by may come with it`, `"look" on "files" with any at and by`}},
	} {
		k, q := ask(t, "[[rule]]\naction='prompt'\n"+c.rule+"\n", c.call)
		offers, whyNot := k.Offers(q)
		var got []string
		for _, o := range offers {
			if got = append(got, o.Title); strings.Contains(o.Allow+o.Deny, "stay open") {
				t.Errorf("%s: %s", o.Title, o.Allow)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q %q", c.rule, got, whyNot)
		}
	}
}

const homePolicy = "[[rule]]\naction='prompt'\ntool='write_*'\nargs.path='~/**'\ndescription='Ask before writes'\n"

func TestOffers(t *testing.T) {
	k, q := ask(t, homePolicy, tool("write_file", `{"path":"/home/user/projects/x/a.txt","content":"hi"}`))
	offers, whyNot := k.Offers(q)
	comment := func(answer, scope string) string {
		return "# Written on 2026-02-03 after the answer \"" + answer + "\" (" + scope + ") to the rule below.\n# Arguments it does not name stay open.\n"
	}
	rule := func(action, what, args string) string {
		return "[[rule]]\naction = \"" + action + "\"\ntool = \"write_file\"\nserver = \"files\"\n" + args + "description = \"" + what + "\"\n"
	}
	var want []view.Offer
	for _, o := range []struct{ scope, args, title, example, what string }{
		{"exact", "args.path = \"/home/user/projects/x/a.txt\"\nargs.content = \"hi\"\nwhere.path.type = \"string\"\nwhere.content.type = \"string\"\n",
			`this exact call, "write_file" on "files" with the same path and content; more arguments may come with it`,
			`"write_file" on "files" with the same path and content, and another_argument = "anything"`, "call write_file with the same path and content"},
		{"file", "args.path = \"/home/user/projects/x/a.txt\"\nwhere.path.type = \"string\"\n",
			`"write_file" on "files" with path as "/home/user/projects/x/a.txt"; content and all other arguments may be anything`,
			`"write_file" on "files" with the same path, and content = "something else"`, "write ~/projects/x/a.txt, any content"},
		{"folder", "args.path = \"/home/user/projects/x/**\"\n",
			`"write_file" on "files" with path in "/home/user/projects/x/" and below; content and all other arguments may be anything`,
			`"write_file" on "files" with path = "/home/user/projects/x/.git/hooks/pre-commit" and content = "something else"`, "write files below ~/projects/x"},
		{"tool", "args.path = \"~/**\"\n",
			`"write_file" on "files" with path in "~/" and below; content and all other arguments may be anything`,
			`"write_file" on "files" with path = "~/.bashrc" and content = "something else"`, "write files below ~"},
	} {
		want = append(want, view.Offer{Scope: o.scope, Title: o.title, Example: o.example,
			Allow: comment("always", o.scope) + rule("allow", strings.ToUpper(o.what[:1])+o.what[1:], o.args),
			Deny:  comment("deny always", o.scope) + rule("deny", "Never "+o.what, typeLine.ReplaceAllString(o.args, ""))})
	}
	if diff := cmp.Diff(want, offers); diff != "" || whyNot != "" {
		t.Errorf("%s %q", diff, whyNot)
	}
}

var typeLine = regexp.MustCompile(`(?m)^where\..*\n`)

// No rule can bind what comes beside the arguments: where MCP does not know it,
// none is offered, and elsewhere the rule says so.
func TestOffersBesideTheArguments(t *testing.T) {
	c := tool("write_file", `{"path":"/home/user/a"}`)
	c.Extra = []byte(`{"cwd":"/etc","x\n[[rule]]":1,"_meta":{"a/b":1}}`)
	k, q := ask(t, homePolicy, c)
	offers, whyNot := k.Offers(q)
	if want := `beside its arguments the call carries cwd and "x\n[[rule]]", which no rule can name`; offers != nil || whyNot != want {
		t.Errorf("%v %s", offers, whyNot)
	}
	c.Extra = []byte(`{"task":{"ttl":60},"_meta":{"a/b":1}}`)
	k, q = ask(t, homePolicy, c)
	if offers, whyNot = k.Offers(q); whyNot != "" || len(offers) == 0 {
		t.Fatal(offers, whyNot)
	}
	for _, o := range offers {
		if !strings.Contains(o.Allow, "\n# So does what comes beside the arguments: no rule can speak of it.\n[[rule]]\n") {
			t.Error(o.Allow)
		}
	}
}

// One line for each offer: scope, title, example.
func TestOfferWords(t *testing.T) {
	resource := policy.Call{Server: "m", Subject: policy.ResourceSubject, Names: []string{"file:///home/user/p/x.md"}}
	prompt := policy.Call{Subject: policy.PromptSubject, Names: []string{"review"}, Args: []byte(`{"lang":"go"}`)}
	other := func(s policy.Subject, name string) policy.Call {
		return policy.Call{Server: "m", Subject: s, Names: []string{name}}
	}
	for _, c := range []struct {
		rule string
		call policy.Call
		want []string
	}{
		{"tool='**'", tool("move", `{"from":"/srv/p/a","to":"/srv/q/b.md","force":true,"n":3,"to do":[1],"of":null}`), []string{
			`file: "move" on "files" with from as "/srv/p/a", to as "/srv/q/b.md"; force, n, "to do", of and all other arguments may be anything e.g. "move" on "files" with the same from, to and of, and force = false, n = 12345 and "to do" = ["something else"]`,
			`folder: "move" on "files" with from in "/srv/p/" and below, to in "/srv/q/" and below; force, n, "to do", of and all other arguments may be anything e.g. "move" on "files" with the same of, and from = "/srv/p/.git/hooks/pre-commit", to = "/srv/q/.git/hooks/pre-commit", force = false, n = 12345 and "to do" = ["something else"]`,
			`tool: "move" on "files" with any arguments e.g. "move" on "files" with the same of, and from = "/home/user/.bashrc", to = "/home/user/.bashrc", force = false, n = 12345 and "to do" = ["something else"]`}},
		{"tool='**'", tool("list", ``), []string{
			`exact: this exact call, "list" on "files"; it may come with arguments e.g. "list" on "files" with another_argument = "anything"`}},
		{"tool='**'", tool("get", `{"at":"https://example.com/a/b"}`), []string{
			`exact: this exact call, "get" on "files" with the same at; more arguments may come with it e.g. "get" on "files" with the same at, and another_argument = "anything"`,
			`folder: "get" on "files" with at in "https://example.com/a/" and below; all other arguments may be anything e.g. "get" on "files" with at = "https://example.com/a/another/file"`,
			`tool: "get" on "files" with any arguments e.g. "get" on "files" with at = "https://another.example/"`}},
		{"tool='**'\nargs.path=['/srv/p/*.txt','/srv/q/?']\nargs.mode='x'", tool("read", `{"path":"/srv/p/a.txt","mode":"x","o":{"a":1},"no":false}`), []string{
			`file: "read" on "files" with path as "/srv/p/a.txt", mode as "x"; o, no and all other arguments may be anything e.g. "read" on "files" with the same path, mode and o, and no = true`,
			`folder: "read" on "files" with path like "/srv/p/*.txt", mode as "x"; o, no and all other arguments may be anything e.g. "read" on "files" with the same mode and o, and path = "/srv/p/file.txt" and no = true`,
			`tool: "read" on "files" with path like "/srv/p/*.txt" or like "/srv/q/?", mode as "x"; o, no and all other arguments may be anything e.g. "read" on "files" with the same mode and o, and path = "/srv/p/file.txt" and no = true`}},
		{"tool='**'", tool("cat", `{"path":"/etc/hosts"}`), []string{
			`exact: this exact call, "cat" on "files" with the same path; more arguments may come with it e.g. "cat" on "files" with the same path, and another_argument = "anything"`,
			`folder: "cat" on "files" with path directly in "/etc/"; all other arguments may be anything e.g. "cat" on "files" with path = "/etc/.env"`,
			`tool: "cat" on "files" with any arguments e.g. "cat" on "files" with path = "/home/user/.ssh/id_ed25519"`}},
		{"resource='file:///**'", resource, []string{
			`exact: this exact resource, "file:///home/user/p/x.md" on "m" e.g. `,
			`folder: every resource in "file:///home/user/p/" and below on "m" e.g. "file:///home/user/p/.env" on "m"`}},
		{"prompt='**'", prompt, []string{
			`exact: this exact call, "review" on every server (this one's name is not known) with the same lang; more arguments may come with it e.g. "review" with the same lang, and another_argument = "anything"`,
			`tool: "review" on every server (this one's name is not known) with any arguments e.g. "review" with lang = "something else"`}},
		{"sampling='**'", other(policy.SamplingSubject, "say hi"), []string{`exact: this exact text, "say hi", on "m"; the rest of the request may be anything e.g. `}},
		{"elicitation='**'", other(policy.ElicitationSubject, "who?"), nil},
		{"elicitation='**'", other(policy.ElicitationSubject, "who"), []string{`exact: this exact message, "who", on "m"; the form below it may be any e.g. `}},
		{"method='**'", other(policy.MethodSubject, "tasks/get"), []string{`exact: every "tasks/get" on "m", whatever its parameters e.g. `}},
	} {
		k, q := ask(t, "[[rule]]\naction='prompt'\n"+c.rule+"\n", c.call)
		offers, whyNot := k.Offers(q)
		var got []string
		for _, o := range offers {
			got = append(got, o.Scope+": "+o.Title+" e.g. "+o.Example)
		}
		if diff := cmp.Diff(c.want, got); diff != "" || (whyNot == "") != (len(got) > 0) {
			t.Errorf("%s %s: %s %q", c.call.Names, c.call.Args, diff, whyNot)
		}
	}
}

// Nothing is offered above a rule that is pinned, nor beyond a limit.
func TestNothingIsOfferedForGood(t *testing.T) {
	k, q := ask(t, "[[rule]]\naction='prompt'\ntool='*'\npinned=true\n", tool("write_file", `{"path":"/p/a"}`))
	if offers, whyNot := k.Offers(q); offers != nil || whyNot != "the rule on line 1 is pinned: it asks every time, and no answer is kept as a rule" {
		t.Errorf("%+v %q", offers, whyNot)
	}
	q.Rule.Action = policy.Allow
	if offers, whyNot := k.Offers(q); offers != nil || whyNot != "a limit is reached, and no rule that is written lifts it" {
		t.Errorf("%+v %q", offers, whyNot)
	}
}

// What an answer writes keeps where, when and limit of the rule that asked.
func TestOffersKeepConditions(t *testing.T) {
	call := tool("write_file", `{"path":"/p/a"}`)
	call.At = time.Now()
	k, q := ask(t, "[[rule]]\naction='prompt'\ntool='*'\nwhere.path.max_length=9\nwhen={ after='2020-01-01T00:00:00Z' }\nlimit='9/min'\n", call)
	offers, whyNot := k.Offers(q)
	for _, o := range offers {
		for _, line := range []string{"where.path.max_length = 9\n", "when = { after = \"2020-01-01T00:00:00Z\" }\n", "limit = \"9/min\"\n"} {
			if !strings.Contains(o.Allow, line) {
				t.Errorf("offered\n%s", o.Allow)
			}
		}
	}
	if len(offers) == 0 {
		t.Error(whyNot)
	}
}

// A deny above narrows what is open, and the example is one of what is left.
func TestExampleIsWhatIsLeft(t *testing.T) {
	k, q := ask(t, "[[rule]]\naction='deny'\ntool='*'\nargs.path=['**/.env','**/.ssh/**']\n"+homePolicy, tool("write_file", `{"path":"/home/user/projects/x/a.txt","content":"hi"}`))
	offers, _ := k.Offers(q)
	for i, want := range []string{"another_argument", "content", "/home/user/projects/x/.git/hooks/pre-commit", "~/.bashrc"} {
		if len(offers) != 4 || !strings.Contains(offers[i].Example, want) {
			t.Errorf("%+v, want %s", offers, want)
		}
	}
}

// What runs by itself later is the first example of a rule that opens it, and no example
// of one that only reads or that a rule above keeps shut.
func TestTheFirstExampleRunsLater(t *testing.T) {
	const shut = "[[rule]]\naction='deny'\ntool='*'\nargs.path=['**/.git/**','**/.envrc','**/.vscode/**','**/.github/**','**/.husky/**']\n"
	const all = "[[rule]]\naction='prompt'\ntool='**'\n"
	for _, c := range []struct{ policy, tool, scope, want string }{
		{all, "write_file", "folder", "/home/user/projects/x/.git/hooks/pre-commit"},
		{all, "write_file", "tool", "/home/user/.bashrc"},
		{all, "puzzle", "folder", "/home/user/projects/x/.git/hooks/pre-commit"}, // nobody knows what it does
		{all, "read_file", "folder", "/home/user/projects/x/.env"},
		{shut + all, "write_file", "folder", "/home/user/projects/x/.env"},
		{strings.Replace(shut, ",'**/.envrc'", "", 1) + all, "write_file", "folder", "/home/user/projects/x/.envrc"},
	} {
		k, q := ask(t, c.policy, tool(c.tool, `{"path":"/home/user/projects/x/a.txt"}`))
		offers, whyNot := k.Offers(q)
		found := false
		for _, o := range offers {
			found = found || o.Scope == c.scope && strings.Contains(o.Example, `path = "`+c.want+`"`)
		}
		if !found {
			t.Errorf("%+v: %+v %s", c, offers, whyNot)
		}
	}
}

// Names and values from the wire cannot write on the screen, nor end their quotes.
func TestOffersAreHarmless(t *testing.T) {
	k, q := ask(t, "[[rule]]\naction='prompt'\ntool='**'\n", tool("a\"; all denied", `{"x\u001b[2J\u202e":"\u001b]8;;http://x\u0007\"\n","/p":"/srv/\u0430bc/x"}`))
	offers, whyNot := k.Offers(q)
	if len(offers) != 3 {
		t.Fatalf("%+v %q", offers, whyNot)
	}
	for _, o := range offers {
		for _, s := range []string{o.Title, o.Example, o.Allow, o.Deny} {
			if strings.ContainsAny(s, "\x1b\x07\u202e") || strings.Contains(s, `a"; all`) {
				t.Errorf("%q", s)
			}
		}
	}
}

// findPolicy denies what carries a mark, and asks about the rest.
const findPolicy = "[[rule]]\naction='deny'\ntool='*'\nfind='marker'\n" + homePolicy

// A rule that denies what is found closes nothing to a call in which nothing was.
func TestOffersBesideFinds(t *testing.T) {
	call := aWrite("/home/user/app/a.txt")
	call.Screened = true
	k, q := lasting(t, findPolicy, call)
	if offers, whyNot := k.Offers(q); len(offers) != 4 || whyNot != "" {
		t.Errorf("%+v, %q", offers, whyNot)
	}
	b, _, err := k.Bound(t.Context(), q, "folder")
	if err != nil {
		t.Fatal(err)
	}
	call = aWrite("/home/user/app/b.txt")
	for name, c := range map[string]struct {
		screened bool
		finds    []string
		want     bool
	}{"nothing": {true, nil, true}, "a mark": {true, []string{"marker"}, false}, "nobody looked": {false, nil, false}} {
		if call.Screened, call.Finds = c.screened, c.finds; b.Covers([]policy.Call{call}) != c.want {
			t.Errorf("%s: covered: %v", name, !c.want)
		}
	}
	// What the record does not say was looked for may have been what the rule opens.
	denied := DeniedCall{Call: aWrite("/home/user/app/a.txt")}
	for name, c := range map[string]struct {
		looked, finds []string
		refused       bool
	}{"looked": {[]string{"marker"}, nil, false}, "found": {[]string{"marker"}, []string{"marker"}, false}, "not looked": {nil, nil, true}} {
		denied.Looked, denied.Call.Finds = c.looked, c.finds
		k.Denied = record{denied}
		note, err := k.Write(t.Context(), q, "folder", gate.AllowAlways)
		if (err != nil) != c.refused {
			t.Errorf("%s: %q, %v", name, note, err)
		}
		if err == nil {
			rewrite(t, k, findPolicy)
		}
	}
}

// TestOffersNameTheFolder: what is offered about a command says in which folder it will
// hold, and nothing is offered that would hold in every folder.
func TestOffersNameTheFolder(t *testing.T) {
	const src = "[[rule]]\naction='prompt'\ntool='*'\n"
	call := tool("run_command", `{"command":"./deploy.sh"}`)
	call.Cwd = owner + "/app"
	k, q := ask(t, src, call)
	offers, _ := k.Offers(q)
	if len(offers) == 0 || offers[0].Scope != "exact" ||
		!strings.Contains(offers[0].Title, `in "/home/user/app" with the same command`) || strings.Contains(offers[0].Deny, "/home/user/app") {
		t.Errorf("%+v", offers)
	}
	note, err := k.Write(t.Context(), q, "exact", gate.AllowAlways)
	written, _ := os.ReadFile(k.Policy)
	if err != nil || !strings.Contains(string(written), "cwd = \"/home/user/app\"\n") || !strings.Contains(string(written), `"Call run_command with the same command in ~/app"`) {
		t.Errorf("%s, %v:\n%s", note, err, written)
	}
	call.Cwd = ""
	k, q = ask(t, src, call)
	offers, _ = k.Offers(q)
	for _, o := range offers {
		if o.Scope == "exact" && o.Allow != "" {
			t.Errorf("offered where the folder is not known: %+v", o)
		}
	}
}

func TestNothingIsOffered(t *testing.T) {
	call := tool("write_file", `{"path":"/home/user/a","content":"a*b","o":"?"}`)
	for name, c := range map[string]struct {
		change func(*Writer, *gate.Question)
		want   string
	}{
		"several calls":     {func(_ *Writer, q *gate.Question) { q.Calls = append(q.Calls, q.Calls...) }, "several requests"},
		"no call":           {func(_ *Writer, q *gate.Question) { q.Calls = nil }, "several requests"},
		"no record":         {func(k *Writer, _ *gate.Question) { k.Denied = nil }, "no record"},
		"no file":           {func(k *Writer, _ *gate.Question) { os.Remove(k.Policy) }, "no such file"},
		"a broken file":     {func(k *Writer, _ *gate.Question) { rewrite(t, k, "x") }, "does not load"},
		"an edited file":    {func(k *Writer, _ *gate.Question) { rewrite(t, k, homePolicy+"# more\n") }, "has changed since the rule asked"},
		"another rule":      {func(_ *Writer, q *gate.Question) { q.Rule.Index++ }, "asks about the call by the rule at policy.toml:1, and not by the rule that asked"},
		"another revision":  {func(_ *Writer, q *gate.Question) { q.Revision = "0123456789ab" }, "has changed since the rule asked"},
		"a read-only file":  {func(k *Writer, _ *gate.Question) { os.Chmod(k.Policy, 0o400) }, "is read-only"},
		"a symlinked file":  {func(k *Writer, _ *gate.Question) { behindLink(t, k) }, "is a symlink"},
		"a folder":          {func(k *Writer, _ *gate.Question) { k.Policy = filepath.Dir(k.Policy) }, "is not a regular file"},
		"a call of no rule": {func(_ *Writer, q *gate.Question) { q.Calls[0].Names = []string{"read"} }, "no longer asks about the call, but says deny"},
		"a call nobody looked into": {func(k *Writer, q *gate.Question) {
			rewrite(t, k, findPolicy)
			q.Calls[0].Screened = true
			*q = question(t, k, q.Calls[0])
			q.Calls = []policy.Call{q.Calls[0]}
			q.Calls[0].Screened = false
		}, "no longer asks about the call, but says deny by the rule at policy.toml:1"},
		"a rule of a layer": {func(k *Writer, q *gate.Question) {
			above := "[[rule]]\naction='allow'\ntool='a'\n[[rule]]\naction='allow'\ntool='b'\n" + homePolicy
			layer, err := policy.Parse("organisation.toml", []byte(above), policy.Options{Home: owner, Layer: "organisation"})
			if err != nil {
				t.Fatal(err)
			}
			k.Options.Above = []*policy.Policy{layer}
			*q = question(t, k, q.Calls[0])
		}, "organisation.toml"},
		"an unknown server": {func(k *Writer, q *gate.Question) {
			rewrite(t, k, "[[rule]]\naction='prompt'\ntool='*'\nserver='x'\n[[rule]]\naction='allow'\ntool='*'\n")
			q.Calls[0].Server = ""
			*q = question(t, k, q.Calls[0])
		}, "this server's name is not known"},
	} {
		t.Run(name, func(t *testing.T) {
			k, q := ask(t, homePolicy, call)
			c.change(k, &q)
			offers, whyNot := k.Offers(q)
			if offers != nil || !strings.Contains(whyNot, c.want) {
				t.Errorf("%+v, %q", offers, whyNot)
			}
			note, err := k.Write(t.Context(), q, "tool", gate.AllowAlways)
			if note != "" || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q, %v", note, err)
			}
		})
	}
	var none *Writer
	if offers, whyNot := none.Offers(gate.Question{}); offers != nil || whyNot != "" {
		t.Errorf("no Writer offers %+v %q", offers, whyNot)
	}
	if _, err := none.Write(t.Context(), gate.Question{}, "exact", gate.AllowAlways); err == nil {
		t.Error("no Writer writes")
	}
}

func rewrite(t testing.TB, k *Writer, src string) {
	t.Helper()
	if err := os.WriteFile(k.Policy, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
}

// behindLink moves the policy file and leaves a symlink.
func behindLink(t testing.TB, k *Writer) {
	t.Helper()
	real := filepath.Join(t.TempDir(), "real.toml")
	if err := os.Rename(k.Policy, real); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, k.Policy); err != nil {
		t.Fatal(err)
	}
}
