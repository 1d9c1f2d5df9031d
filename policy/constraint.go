package policy

import (
	"strings"

	"github.com/clawai/clawai/policy/internal/effort"
	"github.com/clawai/clawai/policy/reading"
	"github.com/clawai/clawai/policy/where"
)

// constraint is a compiled where.<name>.<key>.
type constraint struct {
	where.Constraint
	path  bool // the constraint judges the value as a path: for each reading it gets the path on the disk (DiskPath)
	whole bool // the constraint judges the whole argument, which may be missing
	// spells means that the constraint judges the spelling of the text, even if the text holds
	// JSON.
	spells bool
}

// matchReading judges one reading. If the constraint's answer would take more effort than is left,
// it returns Maybe without asking the constraint, and the policy denies the call.
func (c *constraint) matchReading(r *reading.Reading, a Action, left *effort.Left) where.Match {
	base := r.Base
	if r.DoubtfulBase && a == Allow {
		base = ""
	}
	switch {
	case c.whole && r.Whole != r.Type:
		return c.askConstraint(where.Value{Kind: r.Whole}, a, left)
	case r.Kind == reading.Absent && !c.whole:
		return where.No
	case c.path:
		return c.askConstraint(where.Value{Kind: r.Type, Text: r.DiskPath(), Raw: r.Raw, Base: base}, a, left)
	case r.Type == where.Number:
		return c.askConstraint(where.Value{Kind: r.Type, Text: r.Text, Raw: r.Raw}, a, left)
	}
	m := c.askConstraint(where.Value{Kind: r.Type, Text: r.Raw, Base: base}, a, left)
	if line := trimBreaks(r.Raw); line != r.Raw && c.askConstraint(where.Value{Kind: r.Type, Text: line, Raw: r.Raw, Base: base}, a, left) != m {
		return where.Maybe
	}
	return m
}

// trimBreaks removes the line breaks and blanks around a text, as programs do. If more than one
// line would be left, it returns the text unchanged.
func trimBreaks(s string) string {
	if !strings.ContainsAny(s, "\n\r\t") {
		return s
	}
	line := strings.TrimSpace(s)
	if line == "" || strings.ContainsAny(line, "\n\r\t") {
		return s
	}
	return line
}

// askConstraint subtracts the effort of the constraint's answer from the remaining effort, and
// returns the answer.
func (c *constraint) askConstraint(v where.Value, a Action, left *effort.Left) where.Match {
	if left.Spend(c.JudgeCost(len(v.Text))); *left <= 0 {
		return where.Maybe
	}
	return c.JudgeValue(v, a == Allow)
}

// asked is the cache key of one question to a constraint. Equal questions have the same answer.
type asked struct {
	about *condition
	text  string
	kind  where.Kind
	whole where.Kind
}

// maxAsked is the largest number of cached answers. The answers to further questions are not
// cached.
const maxAsked = 1 << 12

// askEffort is the effort of one lookup in the cache of answers.
const askEffort = 64

// judgeReading judges one reading. An exception of an allow rule is judged like a deny rule. An
// exception of a deny or prompt rule is judged like an allow rule. So a doubt about an exception
// makes the rule stricter.
func (v *view) judgeReading(c *condition, r *reading.Reading, a Action) where.Match {
	switch {
	case c.not:
		return where.Yes - v.matchOnce(c, r, oppositeAction(a))
	case c.typed == nil && r.Within == "":
		return c.matchReading(r, a, &v.picks, &v.left)
	}
	return v.matchOnce(c, r, a)
}

// matchOnce returns the result of matchReading. It computes one result for all readings that the
// constraint cannot tell apart, and keeps the result. A value has up to 64 readings, and the
// readings of several arguments are combined, so the same question comes often.
func (v *view) matchOnce(c *condition, r *reading.Reading, a Action) where.Match {
	if r.Within != "" && !(c.not && a == Allow) && v.matchesJSONText(c, r.Within) {
		return where.Yes
	}
	if c.typed == nil || r.Kind == reading.Refused {
		return c.matchReading(r, a, &v.picks, &v.left)
	}
	q := asked{c, r.Raw, r.Type, r.Whole}
	switch {
	case c.typed.path:
		q.text = r.DiskPath()
	case r.Type == where.Number:
		q.text = r.Text
	}
	if v.left.Spend(askEffort + len(q.text)/8); v.left <= 0 {
		return where.Maybe
	}
	if m, known := v.answers[q]; known {
		return m
	}
	m := c.matchReading(r, a, &v.picks, &v.left)
	if v.answers == nil {
		v.answers = map[asked]where.Match{}
	}
	if len(v.answers) < maxAsked {
		v.answers[q] = m
	}
	return m
}
