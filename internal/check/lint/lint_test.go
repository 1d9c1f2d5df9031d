package lint_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/lint"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/disk"

	"github.com/clawai/clawai/internal/testing/slow"
)

// rules writes rules in short form, separated by semicolons; keys by blanks:
// allow tool=* args.path=/x/**. A comma makes a list, _ in a value is a blank.
func rules(short string) string {
	var b strings.Builder
	for rule := range strings.SplitSeq(short, ";") {
		words := strings.Fields(rule)
		fmt.Fprintf(&b, "[[rule]]\naction = '%s'\n", words[0])
		for _, w := range words[1:] {
			k, v, _ := strings.Cut(w, "=")
			if strings.HasPrefix(v, "<") {
				fmt.Fprintf(&b, "%s = %s\n", k, strings.ReplaceAll(strings.Trim(v, "<>"), "_", " "))
				continue
			}
			var globs []string
			for g := range strings.SplitSeq(v, "|") {
				globs = append(globs, "'"+strings.ReplaceAll(g, "_", " ")+"'")
			}
			if len(globs) > 1 {
				fmt.Fprintf(&b, "%s = [%s]\n", k, strings.Join(globs, ", "))
			} else {
				fmt.Fprintf(&b, "%s = %s\n", k, globs[0])
			}
		}
	}
	return b.String()
}

func run(t *testing.T, text string, o lint.Options) *lint.Report {
	t.Helper()
	p, err := policy.Parse("p.toml", []byte(text), policy.Options{Home: "/home/u", Disk: disk.PlainDisk()})
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return lint.Run(p, []byte(text), o)
}

var known = lint.Options{
	Servers:   map[string][]string{"files": {"read-file", "write-file"}, "db": {"query"}},
	Arguments: map[string][]string{"read-file": {"path", "filename"}},
}

func TestCodes(t *testing.T) {
	for _, c := range []struct {
		code     string
		bad      string // policies with the finding
		good     string // and like ones without
		severity check.Severity
		message  string
		call     string // the witness, in one line; "" when there is none
	}{
		{lint.UnreachableRule, "allow tool=*; allow tool=read*", "allow tool=read*; allow tool=*", check.Warning,
			"no call gets here: the rule on line 1 takes every one", ""},
		{lint.UnreachableRule, "allow tool=a* server=x*; deny tool=a? server=?; allow tool=ab server=x", "allow tool=a* server=x*; deny tool=a? server=?; allow tool=ab server=xy?; allow tool=ac", check.Warning,
			"no call gets here: the rule on line 1 takes every one", ""},
		{lint.DuplicateRule, "deny tool=a args.p=x|y; deny tool=a args.p=y|x", "deny tool=a args.p=x|y; deny tool=a args.p=y", check.Warning,
			"the same conditions as the rule on line 1", ""},
		{lint.DuplicateRule, "prompt tool=a args.p=x; allow tool=a args.p=x", "allow tool=a args.p=x; prompt tool=a args.p=x", check.Warning,
			"the same conditions as the rule on line 1, which says prompt: this allow is never asked", ""},
		{lint.DuplicateRule, "allow tool=a args.p=x args_only=<['n',_'m']>; deny tool=a args.p=x args_only=<['m',_'n']>", "allow tool=a args.p=x args_only=<true>; allow tool=a args.p=x args_only=<['n']>; allow tool=a args.p=x args_open=<true>", check.Warning,
			"the same conditions as the rule on line 1, which says allow: this deny is never asked", ""},
		{lint.DuplicateRule, "deny tool=a; allow tool=a", "deny tool=a; allow tool=b", check.Warning,
			"the same conditions as the rule on line 1, which says deny: this allow is never asked", ""},
		{lint.DenyNeverWins, "allow tool=*; deny tool=rm*", "deny tool=rm*; allow tool=*", check.Error,
			"this deny never wins: the rule on line 1 takes every one", "tool rm is allowed by the rule on line 1"},
		{lint.DenyNeverWins, "allow tool=* args.path=/home/**; deny tool=* args.path=/home/u/.ssh/**", "allow tool=* args.path=/home/u/p/**; deny tool=* args.path=/home/u/.ssh/**", check.Error,
			"the rule on line 1 takes every call that certainly matches; only these are left: paths in an unknown folder",
			`tool x {"path":"/home/u/.ssh/x"} is allowed by the rule on line 1`},
		{lint.AllowAboveDeny, "allow tool=read args.path=/home/**; deny tool=* args.path=**/.ssh/**", "allow tool=read args.path=/home/**; deny tool=*", check.Warning,
			"the rule on line 1 allows calls that this rule would deny", `tool read {"path":"/home/.ssh/x"} is allowed by the rule on line 1`},
		{lint.AllowAboveDeny, `allow tool=read where.path=<{under=["~/projects"]}>; deny tool=* args.path=**/.env|**/*.pem`,
			`deny tool=* args.path=**/.env|**/*.pem; allow tool=read where.path=<{under=["~/projects"]}>; deny tool=* args.path=/etc/**|~/.ssh/**`, check.Warning,
			"the rule on line 1 allows calls that this rule would deny", `tool read {"path":"~/projects/.env"} is allowed by the rule on line 1`},
		{lint.AllowAboveDeny, `allow tool=read args.path=~/projects/**; deny tool=* where.path=<{under=["~/projects/keys"]}>`,
			`allow tool=read args.path=~/projects/**; deny tool=* where.path=<{under=["~/keys"]}>`, check.Warning,
			"the rule on line 1 allows calls that this rule would deny", `tool read {"path":"~/projects/keys/x"} is allowed by the rule on line 1`},
		{lint.IdleAllow, "allow tool=read args.path=~/p/x; allow tool=*", "allow tool=read args.path=~/p/x; deny tool=re*; allow tool=*", check.Warning,
			"this allow has no effect: the rule on line 5 allows all its calls, and more", "tool x is allowed by the rule on line 5"},
		{lint.IdleAllow, "allow tool=read args.path=/p/x/**; allow tool=read args.path=/p/**", "allow tool=read args.path=/p/**; allow tool=read args.path=/q/**; allow tool=read args.path=/p/x/** args_open=<true>; allow tool=read args.path=/p/**", check.Warning,
			"this allow has no effect: the rule on line 5 allows all its calls, and more", `tool read {"path":"/p/y"} is allowed by the rule on line 5`},
		{lint.IdleAllow, "allow tool=read; allow tool=write; allow tool=r*", "allow tool=read; allow tool=r* server=x; allow tool=w* args.q=a; allow tool=w* args.q=a* args.z=b", check.Note,
			"this allow has no effect: the rule on line 7 allows all its calls, and more", "tool r is allowed by the rule on line 7"},
		{lint.IdleAllow, "allow tool=read server=a; allow tool=read", "allow tool=read limit=5/min; allow tool=*; allow tool=a; prompt tool=x; allow tool=a* limit=5/min", check.Warning,
			"this allow has no effect: the rule on line 5 allows all its calls, and more", "tool read is allowed by the rule on line 5"},
		{lint.StarStops, "deny tool=* args.path=/etc/*; allow tool=*", "deny tool=* args.path=/etc/**; allow tool=*", check.Warning,
			`"/etc/*" does not cover deeper paths, and those are allowed`, `tool x {"path":"/etc/x/x"} is allowed by the rule on line 5`},
		{lint.StarStops, "allow tool=* args.path=/srv/*", "allow tool=* args.path=/srv/*|/srv/**", check.Note,
			`"/srv/*" does not open folders below`, `tool x {"path":"/srv/x/x"} is denied: no rule matches`},
		{lint.StarStops, "deny tool=* args.path=*.pem; allow tool=read args.path=~/p/**", "deny tool=* args.path=**/*.pem|**/id_rsa*|**/.env.*; allow tool=read args.path=~/p/**", check.Warning,
			`"*.pem" stops at a slash, and texts with a slash there are allowed`, `tool read {"path":"/home/u/p/x.pem"} is allowed by the rule on line 5`},
		{lint.StarStops, "deny tool=* args.path=.env; allow tool=read where.path=<{under=['~/p']}>", "deny tool=* args.path=**/.env; allow tool=read where.path=<{under=['~/p']}>", check.Warning,
			`".env" is a relative path, and the same name in a folder is allowed`, `tool read {"path":"~/p/.env"} is allowed by the rule on line 5`},
		{lint.StarStops, "deny tool=* args.command=rm_*; allow tool=*", "deny tool=* args.command=rm_**; allow tool=*; deny tool=* args.command=mv_*; allow tool=read args.path=~/p/**", check.Warning,
			`"rm *" stops at a slash, and texts with a slash there are allowed`, `tool x {"command":"rm x/x"} is allowed by the rule on line 5`},
		{lint.StarStops, "deny tool=* args.path=/srv/*/keys; allow tool=*", "deny tool=* args.path=/srv/**/keys; allow tool=*", check.Warning,
			`"/srv/*/keys" stops at a slash, and texts with a slash there are allowed`, `tool x {"path":"/srv/x/x/keys"} is allowed by the rule on line 5`},
		{lint.StarStops, "deny tool=* args.path=/srv/*.key; allow tool=*", "deny tool=* args.path=/srv/**; allow tool=*", check.Note,
			`"/srv/*.key" stops at a slash, and texts with a slash there are allowed`, `tool x {"path":"/srv/x/x.key"} is allowed by the rule on line 5`},
		{lint.StarStops, "deny tool=* args.branch=v-*; allow tool=*", "deny tool=* args.branch=v-**; allow tool=*", check.Note,
			`"v-*" stops at a slash, and texts with a slash there are allowed`, `tool x {"branch":"v-x/x"} is allowed by the rule on line 5`},
		{lint.StarStops, "deny sampling=*key*; allow sampling=**", "deny sampling=**key**; allow sampling=**", check.Warning,
			`"*key*" stops at a slash, and texts with a slash there are allowed`, `sampling x/xkeyx is allowed by the rule on line 4`},
		{lint.StarStops, "prompt elicitation=*", "prompt elicitation=**; deny sampling=*", check.Warning,
			`"*" stops at a slash, and a text with one is denied`, `elicitation x/x is denied: no rule matches`},
		{lint.StarStops, "deny tool=push args.branch=v-*; allow tool=* args.repo=/p", "deny tool=p* args.branch=v-*; allow tool=* args.repo=/p", check.Note,
			`"v-*" stops at a slash, and texts with a slash there are allowed`, `tool push {"branch":"v-x/x","repo":"/p"} is allowed by the rule on line 5`},
		{lint.StarStops, "allow tool=say args.text=*", "allow tool=say args.text=**; allow tool=move args.to=a*", check.Note,
			`"*" stops at a slash, and a text with one is denied`, `tool say {"text":"x/x"} is denied: no rule matches`},
		{lint.StarStops, "allow resource=https://a.b/*", "allow resource=https://a.b/**", check.Note,
			`"https://a.b/*" does not open folders below`, `resource https://a.b/x/x is denied: no rule matches`},
		{lint.StarStops, "deny resource=file:///p/keys/*; allow resource=file:///p/**", "deny resource=file:///p/keys/**; allow resource=file:///p/**", check.Warning,
			`"file:///p/keys/*" does not cover deeper paths, and those are allowed`, `resource file:///p/keys/x/x is allowed by the rule on line 4`},
		{lint.StarStops, "deny tool=* on=reply find=<['hidden']>", "deny tool=** on=reply find=<['hidden']>; allow tool=* on=reply find=<['secret']>", check.Warning,
			`"*" stops at a slash, so replies under a name with a slash pass`, ""},
		{lint.StarStops, "fence tool=fetch* on=reply", "warn tool=fetch* on=reply; fence tool=** on=reply; deny resource=file:///a/* on=list", check.Warning,
			`"fetch*" stops at a slash, so replies under a name with a slash pass`, ""},
		{lint.StarStops, "deny tool=rm*|drop on=list server=s*; redact tool=rm** on=list find=<['*']>", "deny tool=rm** on=list server=s*; deny resource=** on=list", check.Warning,
			`"rm*" stops at a slash, so replies under a name with a slash pass`, ""},
		{lint.StarStops, "redact resource=* on=reply find=<['*']>", "redact resource=** on=reply find=<['secret']>", check.Warning,
			`"*" stops at a slash, so replies under a name with a slash pass`, ""},
		{lint.DeepStarCrosses, "allow tool=* args.url=https://docs.example.com**", "allow tool=* args.url=https://docs.example.com/**|https://**|https://*.example.com/**", check.Warning,
			`"https://docs.example.com**" matches addresses of other hosts`, `tool x {"url":"https://docs.example.com.evil.example"} is allowed by the rule on line 1`},
		{lint.DeepStarCrosses, "allow tool=* args.url=https://**.example.com/**", "deny tool=* args.url=https://**.example.com/**", check.Warning,
			`"https://**.example.com/**" matches addresses of other hosts`, `tool x {"url":"https://evil.example/.example.com/x"} is allowed by the rule on line 1`},
		{lint.GlobOnCommand, "allow tool=run args.command=git_*|ls", `allow tool=run args.command=git_status|**; allow tool=x where.command=<{command=["git"]}>; deny tool=* args.cmd=rm_*; allow tool=x args.code=a*`, check.Warning,
			`"git *" also allows another command behind the intended one`, `tool run {"command":"git x; id"} is allowed by the rule on line 1`},
		{lint.GlobOnCommand, "allow tool=query args.sql=SELECT**", "allow tool=search args.query=a*|**; deny tool=query args.sql=SELECT_**", check.Warning,
			`"SELECT**" also allows another command behind the intended one`, `tool query {"sql":"SELECT 1; DROP TABLE x"} is allowed by the rule on line 1`},
		{lint.LiteralBracket, "allow tool=read-[ab]", "allow tool=read-a; deny tool=* args.url=http://[::1]/**", check.Warning,
			`[ab] in tool = "read-[ab]" has no special meaning in a glob`, ""},
		{lint.LiteralBracket, "deny tool=* args.path=**/*.{pem,key}", `deny tool=* args.path=C:\x\**`, check.Warning,
			`{pem,key} in args.path = "**/*.{pem,key}" has no special meaning in a glob`, ""},
		{lint.UnknownTool, "deny tool=write-fiel", "deny tool=write-file; allow tool=que*; allow tool=x server=other", check.Warning,
			`no tool of "db" and "files" is called "write-fiel"`, ""},
		{lint.UnknownTool, "allow tool=something-else server=db", "allow tool=query server=db", check.Note,
			`no tool of "db" is called "something-else"`, ""},
		{lint.OtherArgumentName, "deny tool=* args.path=**/.env; allow tool=read-file", "deny tool=* args.path=**/.env; allow tool=read-file args.path=/p/**", check.Warning,
			"this rule refuses a value in args.path that is allowed in args.filename", `tool read-file {"filename":"/x/.env"} is allowed by the rule on line 5`},
		{lint.OtherArgumentName, "deny tool=* args.command=rm_**; allow tool=run", "deny tool=* args.command=rm_**; prompt tool=run", check.Note,
			"this rule refuses a value in args.command that is allowed in args.cmd, args.script, args.shell and args.code, if the tool has such an argument", `tool run {"cmd":"rm x"} is allowed by the rule on line 5`},
		{lint.OtherArgumentName, "deny tool=* args.path=**/.env; allow tool=x args.source=~/p/**", "deny tool=* args.path=**/.env; deny tool=* args.source=**/.env; allow tool=x args.source=~/p/**", check.Warning,
			"this rule refuses a value in args.path that is allowed in args.source", `tool x {"source":"/home/u/p/.env"} is allowed by the rule on line 5`},
		{lint.UnseenProgram, "allow tool=run where.c=<{command=['git_**','ssh_**']}>", "allow tool=run where.c=<{command=['git_**','ssh_build_uptime','terraform_plan_**','make_*']}>; deny tool=run where.c=<{command=['ssh_**']}>", check.Warning,
			`"ssh **" opens nothing by the wildcard: ssh can run other programs by words that are not read`, ""},
		{lint.UnseenProgram, "allow tool=run where.c=<{command=['mytool_*','python3_**','docker_run_**']}>", "allow tool=run where.c=<{command=['mytool_check_a*','python3_scripts/*','docker_run_x']}>", check.Warning,
			`"mytool *", "python3 **", "docker run **" open nothing by the wildcard: python and docker can run other programs by words that are not read; the options of mytool are not known`, ""},
		{lint.OtherArgumentName, "deny tool=* where.command=<{command=['rm']}>; allow tool=x where.cmd=<{command=['ls','rm']}>", "deny tool=* where.command=<{command=['rm']}>; allow tool=x where.cmd=<{command=['ls']}>", check.Warning,
			"this rule refuses a value in where.command that is allowed in args.cmd", `tool x {"cmd":"rm"} is allowed by the rule on line 5`},
		{lint.OtherArgumentName, "deny tool=* args.o.file=**/.env; allow tool=read", "deny tool=* args.o.mode=x; allow tool=read", check.Note,
			"this rule refuses a value in args.o.file that is allowed in args.o.path, args.o.filename, args.o.filepath, args.o.file_path, args.o.paths and 7 more, if the tool has such an argument",
			`tool read {"o":{"path":"/x/.env"}} is allowed by the rule on line 5`},
		{lint.ClosedSubjects, "allow tool=x", "allow tool=x; deny prompt=**", check.Note,
			"no rule opens resources, prompts, sampling or elicitation", ""},
		{lint.LinksLeadOut, "allow tool=* args.path=~/p/**", "allow tool=* args.path=/p/x; deny tool=* args.path=/q/**", check.Note,
			`args.path = "~/p/**" compares only the text of the path`, ""},
		{lint.OpenArguments, "allow tool=query", "allow tool=query args.sql=SELECT**; allow tool=get-time", check.Note,
			`tool = "query" is allowed with any arguments`, ""},
		{lint.OpenArguments, "allow tool=read-file", "deny tool=read-file", check.Note,
			`tool = "read-file" is allowed with any arguments, and takes filename and path`, ""},
	} {
		t.Run(c.code+" "+c.bad, func(t *testing.T) {
			r := run(t, rules(c.bad), known)
			i := slices.IndexFunc(r.Findings, func(f check.Finding) bool { return f.Code == c.code })
			if i < 0 {
				t.Fatalf("not found; found are %+v", r.Findings)
			}
			f := r.Findings[i]
			if f.Severity != c.severity || f.Message != c.message || f.Call != c.call {
				t.Errorf("got %s\n %s\n %s\nwant %s\n %s\n %s", f.Severity, f.Message, f.Call, c.severity, c.message, c.call)
			}
			if f.Why == "" || f.Fix == "" || f.Text == "" || f.EndLine < f.Pos.Line {
				t.Errorf("incomplete: %+v", f)
			}
			if (f.Fixture == nil) != (c.call == "") {
				t.Errorf("witness %s", f.Fixture)
			}
			for _, f := range run(t, rules(c.good), known).Findings {
				if f.Code == c.code && f.Severity.Compare(c.severity) >= 0 {
					t.Errorf("found in\n%s: %s", rules(c.good), f.Message)
				}
			}
		})
	}
}

// TestWitness: a witness is a fixture that the policy answers as it says.
func TestWitness(t *testing.T) {
	text := rules("allow tool=* args.path=/home/**; deny tool=* args.path=**/.ssh/**; deny tool=* args.path=/etc/*; allow tool=** where.p=<{under=['~/p']}>; deny tool=* args.p=**/.env; allow tool=**")
	p, err := policy.Parse("p.toml", []byte(text), policy.Options{Home: "/home/u", Disk: disk.PlainDisk()})
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, f := range lint.Run(p, []byte(text), lint.Options{}).Findings {
		if f.Fixture == nil {
			continue
		}
		shown++
		fx, err := check.ParseFixture(f.Fixture)
		if err != nil {
			t.Fatalf("%s: %v", f.Fixture, err)
		}
		if r := check.JudgeFixture(p, fx, "x"); r.Expected == nil || r.IsMismatch() {
			t.Errorf("%s: %+v", f.Fixture, r)
		}
	}
	if shown < 3 {
		t.Errorf("%d witnesses", shown)
	}
}

// TestFixturesAreClean: the policies that people start from have no warnings.
func TestFixturesAreClean(t *testing.T) {
	slow.Test(t)
	files, err := filepath.Glob("../../../fixtures/*/policy.toml")
	if err != nil || len(files) < 10 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r := run(t, string(src), lint.Options{})
		for _, f := range r.Findings {
			if f.Severity.Compare(check.Warning) >= 0 {
				t.Errorf("%s:%d: %s", file, f.Pos.Line, f.Message)
			}
		}
		for _, u := range r.Undecided {
			if u.Reason != "rules about replies are not checked by lint" {
				t.Errorf("%s: %+v", file, u)
			}
		}
	}
}

func TestText(t *testing.T) {
	r := run(t, rules("allow tool=*; deny tool=rm*"), lint.Options{})
	var out bytes.Buffer
	if err := r.WriteText(&out, "p.toml", check.Warning); err != nil {
		t.Fatal(err)
	}
	want := `p.toml:4:1: error: this deny never wins: the rule on line 1 takes every one [deny-never-wins]
     4 | [[rule]]
   why | The first rule that matches decides, so calls that this rule would refuse are allowed.
   fix | move the rule above it, or remove it
  call | tool rm is allowed by the rule on line 1

p.toml: 2 rules, 1 finding (2 below warning)
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	if !r.HasFailed(check.Error) || run(t, rules("deny tool=*"), lint.Options{}).HasFailed(check.Warning) {
		t.Error("the wrong reports fail")
	}
}

func TestUndecidedIsCountedAndNoFinding(t *testing.T) {
	r := run(t, rules("allow tool=*a*b*c*; deny tool=*c*b*a*; allow tool=*a*a*b*"), lint.Options{Work: 1})
	var out bytes.Buffer
	if err := r.WriteText(&out, "p.toml", check.Warning); err != nil {
		t.Fatal(err)
	}
	if len(r.Undecided) == 0 || !strings.Contains(out.String(), "not decided whether a call gets to 2 rules: ") {
		t.Errorf("%+v\n%s", r.Undecided, out.String())
	}
	for _, f := range r.Findings {
		if f.Code == lint.UnreachableRule || f.Code == lint.DenyNeverWins {
			t.Errorf("found without proof: %+v", f)
		}
	}
}

func TestJSON(t *testing.T) {
	r := run(t, rules("allow tool=*; deny tool=rm*"), lint.Options{})
	var out bytes.Buffer
	if err := lint.WriteJSON(&out, []lint.Linted{{File: "p.toml", Revision: "r", Report: r}}, check.Note); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Files []struct {
			File     string
			Rules    int
			Findings []struct {
				Code, Severity, Call string
				Line                 int
				Fixture              map[string]any
				Related              []struct{ Line int }
			}
		}
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	f := doc.Files[0]
	at := slices.IndexFunc(f.Findings, func(f struct {
		Code, Severity, Call string
		Line                 int
		Fixture              map[string]any
		Related              []struct{ Line int }
	}) bool {
		return f.Code == lint.DenyNeverWins
	})
	if f.Rules != 2 || at < 0 || f.Findings[at].Line != 4 || f.Findings[at].Fixture["method"] != "tools/call" || f.Findings[at].Related[0].Line != 1 {
		t.Errorf("%s", out.String())
	}
}

// TestReported: what SARIF and annotations are made of names codes the tool
// describes.
func TestReported(t *testing.T) {
	kinds := lint.DescribeTool("v").Kinds
	for _, f := range run(t, rules("allow tool=*; deny tool=rm*"), lint.Options{}).AtLeast(check.Note) {
		if !slices.ContainsFunc(kinds, func(k check.FindingKind) bool { return k.Code == f.Code }) || f.Pos.Line == 0 || f.Pos.File != "p.toml" {
			t.Errorf("%+v", f)
		}
	}
}
