package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

// Names of arguments, and expressions, for findCommandGlobs. A glob compares only characters, so a
// command or an SQL statement that matches may continue with another command.
var (
	commandNames = []string{"command", "cmd", "shell", "shellcommand", "commandline"}
	reads        = lazyRegexp(`(?i)^\s*(select|with|show|explain|describe)\b`)

	// plainPattern matches simple globs: words, and optional stars after the words. Such a glob can be
	// rewritten as a command pattern.
	plainPattern = lazyRegexp(`^([A-Za-z0-9._/=:@%+,-]+(?: [A-Za-z0-9._/=:@%+,-]+)*) ?\**$`)
)

// findCommandGlobs finds allows that compare a shell command or an SQL statement with a glob.
func findCommandGlobs(l *linter) {
	l.visitRules(func(i int, r *policy.Source) {
		if !isAllow(r) || l.reach[i].Witness == nil {
			return
		}
		for _, a := range r.Args {
			name := plainName(a.Path[len(a.Path)-1])
			for _, g := range a.Globs {
				last := strings.LastIndexByte(g, '*')
				if last < 0 || strings.Trim(g, "* ") == "" {
					continue
				}
				more, fix := "", ""
				switch f := nameFamily(name); {
				case slices.Contains(commandNames, name):
					more, fix = " x; id", commandFix(a)
				case f != nil && f[0] == "sql" && reads().MatchString(g):
					more, fix = " 1; DROP TABLE x", policytext.DottedKey("where", a.Path...)+`.sql = "read-only"`
				default:
					continue
				}
				begin := strings.TrimRight(fillWildcards(strings.TrimRight(g[:last], "*")), " ")
				if l.reportLongerText(i, r, a, g, []string{begin + more + fillWildcards(g[last+1:]), begin + more[1:] + fillWildcards(g[last+1:])}, fix) {
					return
				}
			}
		}
	})
}

// reportLongerText adds a finding about glob g if rule i allows one of texts. Each text has another
// command after the intended command. reportLongerText reports whether it added a finding.
func (l *linter) reportLongerText(i int, r *policy.Source, a policy.ArgSource, g string, texts []string, fix string) bool {
	for _, text := range texts {
		c := withArgument(l.reach[i].Witness, a.Path, text)
		if c == nil {
			return false
		}
		if d := l.policy.Decide(c); d.Action != policy.Allow || d.Rule == nil || d.Rule.Index != i {
			continue
		}
		f := check.Finding{Code: GlobOnCommand, Message: fmt.Sprintf("%q also allows another command behind the intended one", g),
			Fix: fmt.Sprintf("write %s instead, which reads the text like a server", fix)}
		l.addWitness(&f, c)
		l.addFinding(r, a.Pos, f)
		return true
	}
	return false
}

// commandFix returns a constraint that should replace the globs on a command. It returns a general
// example if a glob has no command pattern with the same meaning.
func commandFix(a policy.ArgSource) string {
	var patterns []string
	for _, g := range a.Globs {
		m := plainPattern().FindStringSubmatch(g)
		switch {
		case m == nil:
			return policytext.DottedKey("where", a.Path...) + ` = { command = ["git status", "ls **"] } with your own commands`
		case strings.HasSuffix(g, "*"):
			patterns = append(patterns, m[1]+" **")
		default:
			patterns = append(patterns, g)
		}
	}
	return policytext.DottedKey("where", a.Path...) + " = { command = " + policytext.FormatList(policytext.QuoteAll(patterns)) + " }"
}

// lazyRegexp returns a function that compiles an expression at the first call. Compiled package
// variables would slow down every start of the proxy.
func lazyRegexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
