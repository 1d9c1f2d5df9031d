package learn

import (
	"fmt"
	"strings"
	"time"

	"github.com/clawai/clawai/policy"
)

// DescribeRule returns a description of the rule for its key "description".
func (r *Rule) DescribeRule() string {
	verb := "Learned: "
	if r.Action == policy.Prompt {
		verb = "Learned, ask: "
	}
	name := r.Name
	switch r.Subject {
	case policy.SamplingSubject:
		name = "the server uses the model"
	case policy.ElicitationSubject:
		name = "the server has a question"
	}
	if len(r.Conditions) == 0 || len(r.Conditions[0].Globs) == 0 {
		return verb + name
	}
	in := r.Conditions[0].Globs[0]
	if len(in) > 60 {
		in = "some places"
	} else if len(r.Conditions[0].Globs) > 1 {
		in += " and others"
	}
	return verb + name + " " + in
}

// DescribeEvidence returns a phrase about the calls from which a rule was learned.
func (r *Rule) DescribeEvidence() string {
	t := &r.Tally
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{t.Yes, "allowed by you when asked"}, {t.No, "denied by you"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if t.Observed > 0 {
		parts = append(parts, "nothing was enforced")
	}
	if t.Passed > 0 {
		parts = append(parts, "allowed by the rules of the day")
	}
	days := t.First.Format(time.DateOnly)
	if last := t.Last.Format(time.DateOnly); last != days {
		days += " to " + last
	}
	s := fmt.Sprintf("%s in %s, %s", formatCount(t.Calls, "call"), formatCount(len(t.sessions), "session"), days)
	if len(parts) > 0 {
		s += " (" + strings.Join(parts, ", ") + ")"
	}
	return s
}

func formatCount(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
