package lint_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/lint"
)

// TestFixes: what a finding proposes can be written as it stands, and then there is
// no such finding.
func TestFixes(t *testing.T) {
	recorded := lint.Options{
		Servers:   map[string][]string{"files": {"read-text-file", "write-file", "list-directory"}},
		Arguments: map[string][]string{"read-text-file": {"filePath"}},
	}
	for _, c := range []struct {
		code, bad string
		fix       string // its words
		good      string // the policy with it
	}{
		{lint.StarStops, "deny tool=* args.path=*.pem; allow tool=read args.path=~/p/**", `write "**/*.pem"`,
			"deny tool=* args.path=**/*.pem; allow tool=read args.path=~/p/**"},
		{lint.StarStops, "deny tool=* args.sql=*DROP*; allow tool=*", `write "**DROP**"`, "deny tool=* args.sql=**DROP**; allow tool=*"},
		{lint.StarStops, "deny tool=* args.sql=a**b*; allow tool=*", `write "a**b**"`, "deny tool=* args.sql=a**b**; allow tool=*"},
		{lint.StarStops, "deny tool=* args.path=keys/a; allow tool=read args.path=~/p/**", `write "**/keys/a"`,
			"deny tool=* args.path=**/keys/a; allow tool=read args.path=~/p/**"},
		{lint.StarStops, "deny tool=* args.path=~/.ssh/*; allow tool=read args.path=~/**", `write "~/.ssh/**" to include everything below`,
			"deny tool=* args.path=~/.ssh/**; allow tool=read args.path=~/**"},
		{lint.StarStops, "allow elicitation=*", `write "**"`, "allow elicitation=**"},
		{lint.DeepStarCrosses, "allow tool=get args.url=https://github.com*", `close the host with a slash: "https://github.com" and "https://github.com/**"`,
			"allow tool=get args.url=https://github.com|https://github.com/**"},
		{lint.DeepStarCrosses, "allow tool=get args.url=https://**.acme.com/**", `write where.url = { scheme = ["https"], host = ["*.acme.com"] } instead, which reads the host like a server`,
			"allow tool=get where.url=<{scheme=['https'],host=['*.acme.com']}>"},
		{lint.DeepStarCrosses, "allow tool=get args.url=https://docs.*/**", `name the whole host and close it with a slash: "https://docs.example.com/**", for example`,
			"allow tool=get args.url=https://docs.example.com/**"},
		{lint.GlobOnCommand, "allow tool=run args.cmd=git_*|ls*|npm_run_**|pwd", `write where.cmd = { command = ["git **", "ls **", "npm run **", "pwd"] } instead, which reads the text like a server`,
			"allow tool=run where.cmd=<{command=['pwd']}>"},
		{lint.GlobOnCommand, "allow tool=run args.cmd=*--help", `write where.cmd = { command = ["git status", "ls **"] } with your own commands instead, which reads the text like a server`,
			"allow tool=run where.cmd=<{command=['ls']}>"},
		{lint.GlobOnCommand, "allow tool=run args.a.sql=select_*", `write where.a.sql.sql = "read-only" instead, which reads the text like a server`,
			"allow tool=run where.a.sql.sql=read-only"},
		{lint.LinksLeadOut, "allow tool=read args.path=~/p/**|/srv/data*|/etc/hosts", `add where.path = { under = ["/etc/hosts", "/srv", "~/p"] }, which follows links first`,
			"allow tool=read args.path=~/p/**|/srv/data*|/etc/hosts where.path=<{under=['/etc/hosts','/srv','~/p']}>"},
		{lint.LinksLeadOut, "allow tool=read args.a.b=~/*", `add where.a.b = { under = ["~"] }, which follows links first`,
			"allow tool=read args.a.b=~/* where.a.b=<{under=['~']}>"},
		{lint.LinksLeadOut, "allow tool=read args.path=**/src/**", `add where.path = { under = [...] } with the folders that it may be in, which follows links first`,
			"allow tool=read args.path=**/src/** where.path=<{under=['/srv']}>"},
		{lint.OtherArgumentName, "deny tool=* args.path=**/.env; allow tool=read-text-file", "add conditions to the rule on line 5, or add the same rule for args.filePath",
			"deny tool=* args.path=**/.env; allow tool=read-text-file args.filePath=/p/x"},
		{lint.OtherArgumentName, "deny tool=* args.path=**/.env; allow tool=read-text-file", "add conditions to the rule on line 5, or add the same rule for args.filePath",
			"deny tool=* args.path=**/.env; deny tool=* args.filePath=**/.env; allow tool=read-text-file"},
		{lint.UnknownTool, "deny tool=raed-text-file", `write "read-text-file", if that is meant`, "deny tool=read-text-file"},
		{lint.UnknownTool, "deny tool=read-file", `write "read-text-file", if that is meant`, "deny tool=read-text-file"},
		{lint.UnknownTool, "deny tool=files-write-file", `write "write-file", if that is meant`, "deny tool=write-file"},
		{lint.UnknownTool, "deny prompt=x server=filse", `write server = "files", if that is meant`, "deny prompt=x server=files; deny prompt=y server=other"},
		{lint.UnknownTool, "deny tool=reed-*", `write "read-*", if that is meant`, "deny tool=read-*"},
		{lint.UnknownTool, "deny tool=LSIT-directory", `write "list-directory", if that is meant`, "deny tool=list-directory"},
	} {
		t.Run(c.code+" "+c.bad, func(t *testing.T) {
			r := run(t, rules(c.bad), recorded)
			i := slices.IndexFunc(r.Findings, func(f check.Finding) bool { return f.Code == c.code })
			if i < 0 || r.Findings[i].Fix != c.fix {
				t.Fatalf("want %s; found are %+v", c.fix, r.Findings)
			}
			for _, f := range run(t, rules(c.good), recorded).Findings {
				if f.Code == c.code && !(c.code == lint.OtherArgumentName && f.Severity == check.Note) {
					t.Errorf("still: %s", f.Message)
				}
			}
		})
	}
	for _, far := range []string{"x", "get-time", "*-fil?", "s*", "reed*-*"} {
		for _, f := range run(t, rules("deny tool="+far), recorded).Findings {
			if f.Code == lint.UnknownTool && strings.HasPrefix(f.Fix, "write ") {
				t.Errorf("%s: %s", far, f.Fix)
			}
		}
	}
}
