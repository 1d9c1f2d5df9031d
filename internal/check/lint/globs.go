package lint

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

// pathGlob reports whether a glob looks like a path.
func pathGlob(g string) bool {
	return strings.HasPrefix(g, "/") || strings.HasPrefix(g, "~") || strings.HasPrefix(g, "**/") ||
		strings.HasPrefix(g, "file:") || drive().MatchString(g)
}

var drive = lazyRegexp(`^[A-Za-z]:[/\\]`)

// hostStar matches a glob on URLs that has a star in the host or directly after the host. Such a star
// may also match other hosts.
var hostStar = lazyRegexp(`^(https?://)([^/]*?)(\*+)([^/]*)(.*)$`)

// findOpenHosts finds allows for web addresses that also match a host of another owner.
func findOpenHosts(l *linter) {
	l.visitRules(func(i int, r *policy.Source) {
		if !isAllow(r) {
			return
		}
		for _, a := range r.Args {
			for _, g := range a.Globs {
				l.checkHost(i, r, a, g)
			}
		}
		if r.Subject == policy.ResourceSubject {
			for _, g := range r.Names {
				l.checkHost(i, r, policy.ArgSource{}, g)
			}
		}
	})
}

func (l *linter) checkHost(i int, r *policy.Source, a policy.ArgSource, g string) {
	m := hostStar().FindStringSubmatch(g)
	base := l.reach[i].Witness
	if m == nil || base == nil || m[2]+m[4] == "" && m[5] == "" {
		return // https://** matches every host on purpose
	}
	scheme, before, star, after, rest := m[1], m[2], m[3], m[4], m[5]
	plain := strings.NewReplacer("**", "x", "*", "x").Replace(rest)
	evil := ""
	switch {
	case before != "" && after == "" && (star == "**" || rest == "" || rest[0] == '/'):
		evil = scheme + before + ".evil.example" + plain
		if strings.HasSuffix(before, ".") {
			evil = scheme + before + "evil.example" + plain
		}
	case star == "**" && after != "":
		evil = scheme + "evil.example/" + strings.NewReplacer("*", "x").Replace(after) + plain
	default:
		return
	}
	c := withAddress(base, a.Path, evil)
	if c == nil {
		return
	}
	if d := l.policy.Decide(c); d.Action != policy.Allow || d.Rule == nil || d.Rule.Index != i {
		return
	}
	f := check.Finding{Code: DeepStarCrosses, Message: fmt.Sprintf("%q matches addresses of other hosts", g), Fix: hostFix(a.Path, scheme, before, after)}
	if star == "*" {
		f.Why = "If the end of a host is open, a stranger can register an address that matches."
	}
	l.addWitness(&f, c)
	l.addFinding(r, a.Pos, f)
}

// hostFix returns a suggestion for the glob: a slash after the host, or a constraint on the host.
func hostFix(path []string, scheme, before, after string) string {
	switch {
	case after == "" && !strings.HasSuffix(before, "."):
		return fmt.Sprintf("close the host with a slash: %q and %q", scheme+before, scheme+before+"/**")
	case strings.HasPrefix(after, ".") && before == "" && len(path) > 0 && !strings.ContainsAny(after, "*?"):
		return fmt.Sprintf("write %s = { scheme = [%q], host = [%q] } instead, which reads the host like a server",
			policytext.DottedKey("where", path...), strings.TrimSuffix(scheme, "://"), "*"+after)
	}
	return fmt.Sprintf("name the whole host and close it with a slash: %q, for example", scheme+before+"example.com/**")
}

// withAddress is like withArgument. But if path is empty, it replaces the name of the call, such as the
// URI of a resource.
func withAddress(base *policy.Call, path []string, value string) *policy.Call {
	if len(path) > 0 {
		return withArgument(base, path, value)
	}
	c := *base
	c.Names = []string{value}
	return &c
}

// class, braces and escape match texts that have a special meaning in other glob languages: a character
// class, an alternation and an escape. windows matches the beginning of a Windows path.
var (
	class  = lazyRegexp(`\[[^\[\]:.]+\]`)
	braces = lazyRegexp(`\{[^{}]*,[^{}]*\}`)
	escape = lazyRegexp(`\\[*?\[\]{}]`)

	windows = lazyRegexp(`^([A-Za-z]:|\\|\*+)\\`)
)

// findBrackets finds globs with a character class, an alternation or an escape of another glob
// language.
func findBrackets(l *linter) {
	l.visitRules(func(_ int, r *policy.Source) {
		texts := func(pos policy.Position, name string, globs []string) {
			for _, g := range globs {
				for _, re := range []*regexp.Regexp{class(), braces(), escape()} {
					found := re.FindString(g)
					if re == escape() && windows().MatchString(g) {
						continue // the backslashes are path separators
					}
					if found != "" {
						l.reportBracket(r, pos, name, g, found)
						break
					}
				}
			}
		}
		texts(policy.Position{}, r.Subject.RuleKey(), r.Names)
		for _, c := range r.Calls {
			texts(policy.Position{}, c.Key, c.Globs)
		}
		for _, a := range r.Args {
			texts(a.Pos, policytext.DottedKey("args", a.Path...), a.Globs)
		}
		for _, e := range exceptionsOf(r) {
			texts(e.pos, e.key, e.globs)
		}
	})
}

func (l *linter) reportBracket(r *policy.Source, pos policy.Position, name, g, found string) {
	f := check.Finding{Code: LiteralBracket,
		Message: fmt.Sprintf("%s in %s = %q has no special meaning in a glob", found, name, g),
		Fix:     "write a list with one glob for each choice"}
	switch {
	case found[0] == '\\':
		f.Fix = "globs have no escapes; ? matches any one character, also a star"
	case (r.Subject == policy.SamplingSubject || r.Subject == policy.ElicitationSubject) && strings.ContainsAny(g, " \""),
		!pathGlob(g) && strings.Contains(g, " "):
		f.Severity = check.Note // brackets are usual in prose
	}
	l.addFinding(r, pos, f)
}
