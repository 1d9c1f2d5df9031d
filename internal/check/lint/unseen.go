package lint

import (
	"fmt"
	"strings"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/shell"
)

// findIdleWildcards finds allows whose command patterns have a wildcard that matches no call. The
// wildcard matches no call because the program runs other programs, or because its options are unknown.
func findIdleWildcards(l *linter) {
	l.visitRules(func(_ int, r *policy.Source) {
		if !isAllow(r) {
			return
		}
		for _, w := range r.Where {
			var patterns, unknown, running []string
			for _, u := range shell.UnseenBy(w.Constraint) {
				patterns = append(patterns, fmt.Sprintf("%q", u.Pattern))
				if u.Known {
					running = append(running, u.Program)
				} else {
					unknown = append(unknown, u.Program)
				}
			}
			if len(patterns) == 0 {
				continue
			}
			verb := "opens"
			if len(patterns) > 1 {
				verb = "open"
			}
			var reasons []string
			if len(running) > 0 {
				reasons = append(reasons, strings.Join(running, " and ")+" can run other programs by words that are not read")
			}
			if len(unknown) > 0 {
				reasons = append(reasons, "the options of "+strings.Join(unknown, " and ")+" are not known")
			}
			l.addFinding(r, w.Pos, check.Finding{Code: UnseenProgram,
				Message: fmt.Sprintf("%s %s nothing by the wildcard: %s", strings.Join(patterns, ", "), verb, strings.Join(reasons, "; ")),
				Fix:     "write each command that is meant in full, as in \"ssh build uptime\" or \"mytool check --fast\""})
		}
	})
}
