// Package shown makes of a laptop's question what the centre shows a person, as harmless text.
package shown

import (
	"fmt"
	"strings"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/text/term"
)

// IsName reports whether the name of a tool or a prompt goes to who may not see arguments: a name of another
// form could be one.
func IsName(s string) bool {
	return s != "" && len(s) <= 128 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '.' && r != '-'
	})
}

// NewQuestion returns a question as a person is shown it.
func NewQuestion(a *enrolment.AskQuestion) (view.Question, error) {
	return view.NewQuestion(a.PolicyCalls(), view.Options{
		Server: a.Server, Why: a.Why, Project: a.Project, Home: a.Home, Rule: a.PolicyRule(), Digest: a.DigestBytes(),
	})
}

// Approvers returns whom the rule of a question names, as harmless text: the laptop writes the names.
func Approvers(a *enrolment.AskQuestion) (all []string) {
	for _, text := range a.Approvers {
		all = append(all, term.VisibleText(text))
	}
	return all
}

// EntireLines returns every value that the lines of a question fold. Nothing is left out, however long it
// is: who allows a call from afar can look at it nowhere else. Equal lines in a row are counted.
func EntireLines(q *view.Question) (all []string) {
	for i := range q.Requests {
		for _, a := range q.Requests[i].Values() {
			if !a.Folded {
				continue
			}
			all = append(all, fmt.Sprintf("request %d of %d: %s, entire", i+1, len(q.Requests), a.Path))
			last, same := "\n", 0 // no line has that
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
