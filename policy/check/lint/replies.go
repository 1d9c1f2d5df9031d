package lint

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/check"
)

// replies reports what rules about replies and lists probably do not mean, and that of
// whether anything comes to them nothing is proved.
func replies(l *linter) {
	seen := map[string]*policy.Source{}
	for i := range l.sources {
		r := &l.sources[i]
		if r.Subject != policy.NoSubject {
			continue
		}
		if r.Action == policy.Redact && slices.ContainsFunc(r.Finds, doubted) {
			l.add(r, policy.Position{}, check.Finding{Code: RedactedDoubt,
				Message: "it takes out what may be no secret: " + strings.Join(slices.DeleteFunc(slices.Clone(r.Finds), func(k string) bool { return !doubted(k) }), ", "),
				Fix:     `name kinds that are sure, such as "secret", or warn`})
		}
		key := r.On.String() + r.About.Key() + "\x00" + conditions(r) + "\x00" + beside(r)
		above := seen[key]
		switch {
		case above != nil && r.From == "":
			l.add(r, policy.Position{}, check.Finding{Code: DuplicateRule, Message: "the same conditions as " + l.at(above.Pos),
				Fix: "remove one of the two", Related: []check.Related{{Pos: above.Pos, Message: "the first of the two, which decides"}}})
		case above == nil:
			seen[key] = r
		}
		if above == nil && r.From == "" {
			l.report.Undecided = append(l.report.Undecided, Undecided{r.Pos, l.reach[i].Reason})
		}
	}
}

// doubted are kinds of which what is found is often something else: the value of a name
// such as password stands in every fourth source file (docs/detection.md).
func doubted(kind string) bool { return kind == "secret:likely" || kind == "*" }
