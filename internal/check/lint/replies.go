package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
)

// checkReplies reports probable mistakes in rules about replies and lists. Nothing is proved about
// such rules, so it adds those of the owner to Report.Undecided, without the duplicates.
func checkReplies(l *linter) {
	seen := map[string]*policy.Source{}
	for i := range l.sources {
		r := &l.sources[i]
		if r.Subject != policy.NoSubject {
			continue
		}
		if r.Action == policy.Redact && slices.ContainsFunc(r.Finds, isDoubtful) {
			l.addFinding(r, policy.Position{}, check.Finding{Code: RedactedDoubt,
				Message: "it removes texts that may not be secrets: " + strings.Join(slices.DeleteFunc(slices.Clone(r.Finds), func(k string) bool { return !isDoubtful(k) }), ", "),
				Fix:     `write kinds that are certain, such as "secret", or use action = "warn"`})
		}
		l.starPasses(r)
		key := r.On.String() + r.About.RuleKey() + "\x00" + conditionKey(r) + "\x00" + furtherKey(r)
		above := seen[key]
		switch {
		case above != nil && r.From == "":
			l.addFinding(r, policy.Position{}, check.Finding{Code: DuplicateRule, Message: "the same conditions as " + l.describeRule(above.Pos),
				Fix: "remove one of the two", Related: []check.Related{{Pos: above.Pos, Message: "the first of the two, which decides"}}})
		case above == nil:
			seen[key] = r
		}
		if above == nil && r.From == "" {
			l.report.Undecided = append(l.report.Undecided, Undecided{r.Pos, l.reach[i].Reason})
		}
	}
}

// starPasses reports a glob that does not match names with a slash, unless other rules are equally
// strict for these names. A server can choose a tool name with a slash, and a reply that no rule
// matches passes.
func (l *linter) starPasses(r *policy.Source) {
	if r.On == policy.OnCall || r.Action == policy.Allow {
		return
	}
	for _, g := range r.Names {
		stops := findStops(g, false)
		uri := r.About == policy.ResourceSubject || r.About == policy.MethodSubject // URIs and methods normally contain slashes
		if len(stops) == 0 || uri && g != "*" {
			continue
		}
		c := policy.Call{Subject: r.About, Names: []string{stops[len(stops)-1].deep}, Server: "x"}
		if len(r.Servers) > 0 {
			c.Server = fillWildcards(r.Servers[0])
		}
		kinds := r.Finds[:min(1, len(r.Finds))]
		if slices.Contains(kinds, "*") {
			kinds = policy.FindingKinds()[:1]
		}
		if d := l.policy.DecideReply(r.On, []policy.Call{c}, kinds); check.StrictestAction(&d) <= r.Action {
			continue
		}
		l.addFinding(r, policy.Position{}, check.Finding{Code: StarStops, Message: fmt.Sprintf("%q stops at a slash, so replies under a name with a slash pass", g),
			Why: "A server can put a slash into a name, and a reply that no rule matches passes.", Fix: fmt.Sprintf("write %q", deepenStars(g))})
	}
}

// isDoubtful reports whether findings of a kind are often false. For example, every fourth source file
// has a value after a word such as password (docs/detection.md).
func isDoubtful(kind string) bool { return kind == "secret:likely" || kind == "*" }
