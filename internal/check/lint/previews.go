package lint

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy"
)

// findIdlePreviews finds rules with preview that never ask about a command. These are rules about
// replies, and rules about tools that run no command.
func findIdlePreviews(l *linter) {
	l.visitRules(func(_ int, r *policy.Source) {
		if !r.Preview || r.On == policy.OnCall && r.Subject == policy.ToolSubject && mayRun(r) {
			return
		}
		l.addFinding(r, policy.Position{}, check.Finding{Code: IdlePreview,
			Message: "no call that this rule asks about runs a command",
			Fix:     `name tools that run commands, such as "Bash", or add where.command.command; or leave preview out`})
	})
}

// mayRun reports whether a rule may be about a tool that runs commands.
func mayRun(r *policy.Source) bool {
	return slices.ContainsFunc(r.Where, func(w policy.WhereSource) bool { return w.Key == "command" }) ||
		slices.ContainsFunc(r.Names, func(glob string) bool { return strings.ContainsAny(glob, "*?") || textclass.RunsText(glob) })
}
