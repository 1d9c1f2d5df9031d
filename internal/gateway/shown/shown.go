// Package shown converts a laptop's question to the harmless text that the centre shows to people.
package shown

import (
	"fmt"
	"strings"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/text/term"
)

// IsName reports whether a text has the form of a name of a tool or a prompt. A text of another form
// could be an argument, so the centre hides it from people who may not see arguments.
func IsName(s string) bool {
	return s != "" && len(s) <= 128 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '.' && r != '-'
	})
}

// NewQuestion returns the view of a question for a person.
func NewQuestion(a *enrolment.AskQuestion) (view.Question, error) {
	return view.NewQuestion(a.PolicyCalls(), view.Options{
		Server: a.Server, Why: a.Why, Project: a.Project, Home: a.Home, Rule: a.PolicyRule(), Digest: a.DigestBytes(),
	})
}

// Approvers returns the approvers of a question as harmless text, because the laptop chooses their
// names.
func Approvers(a *enrolment.AskQuestion) (all []string) {
	for _, text := range a.Approvers {
		all = append(all, term.VisibleText(text))
	}
	return all
}

// EntireLines returns the entire text of each value that the view folds, in lines. It omits nothing,
// because a person who allows the call can read the value only here. If a line is repeated several
// times in a row, it writes the number of repeats instead of them.
func EntireLines(q *view.Question) (all []string) {
	for i := range q.Requests {
		for _, a := range q.Requests[i].Values() {
			if !a.Folded {
				continue
			}
			all = append(all, fmt.Sprintf("request %d of %d: %s, entire", i+1, len(q.Requests), a.Path))
			last, same := "\n", 0 // an impossible line, because no line contains a line break
			count := func() {
				if same > 0 {
					all = append(all, fmt.Sprintf("  … the same line %d more times …", same))
				}
			}
			for line := range a.EachLine() {
				if line == last {
					same++
					continue
				}
				count()
				last, same = line, 0
				all = append(all, view.Gutter+line)
			}
			count()
		}
	}
	return all
}
