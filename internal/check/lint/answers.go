package lint

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
)

// findAnswerRules finds allows that the answer "always" wrote for a command in one folder. Such an
// allow is too wide without a condition on the folder, because the question was only about the current
// folder.
func findAnswerRules(l *linter) {
	l.visitRules(func(_ int, r *policy.Source) {
		if !isAllow(r) || r.From != "" || !l.wasAnswered(r) || slices.ContainsFunc(r.Calls, func(s policy.Stated) bool { return s.Key == "cwd" }) {
			return
		}
		for _, a := range r.Args {
			if !slices.ContainsFunc(r.Names, func(tool string) bool { return policy.RunsArgument(tool, a.Path[len(a.Path)-1]) }) {
				continue
			}
			for _, glob := range a.Globs {
				word := policy.RelativeWord(glob)
				if word == "" || strings.ContainsAny(glob, "*?") {
					continue
				}
				l.addFinding(r, a.Pos, check.Finding{Code: WideAnswer,
					Message: fmt.Sprintf("an answer about %q in one folder wrote this rule, and it holds in every folder", word),
					Fix:     "add the intended folder to the rule: cwd = \"/home/you/project\""})
				return
			}
		}
	})
}

// wasAnswered reports whether a person's answer "always" wrote a rule. The comment above the rule says
// so.
func (l *linter) wasAnswered(r *policy.Source) bool {
	for i := r.Pos.Line - 2; i >= 0 && i < len(l.lines); i-- {
		line := bytes.TrimSpace(l.lines[i])
		if !bytes.HasPrefix(line, []byte("#")) {
			return false
		}
		if bytes.HasPrefix(line, []byte("# Written on ")) && bytes.Contains(line, []byte(`after the answer "always" (`)) {
			return true
		}
	}
	return false
}
