package cover

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
	"github.com/clawai/clawai/policy/where"
)

// Point is one fact about a rule that a fixture should show.
type Point struct {
	Rule    int    // index of the rule in the policy, from 0
	Line    int    // line of the rule
	What    string // the condition that the point is about, or "the rule"
	Way     string // "matches" or "fails"
	Covered bool
	By      string          // path of the first fixture that covers the point; "" if there is none
	Hint    string          // if the point is uncovered: which fixture is needed
	Fixture *check.Composed // a fixture that would cover the point; nil if none is known
}

const theRule = "the rule"

// Coverage holds all points of a policy in the order of the file.
type Coverage struct {
	Points []Point
}

// Measure checks three things for each rule:
//   - The rule matches some call of the fixtures that reaches it.
//   - Each glob or listed value alone is enough to make the rule match some call.
//   - Each condition is needed: without it, the rule would match a call that it does not match now.
//
// To check a condition or a value, Measure removes the condition or the other values from the rule
// and traces the calls again. src is the text of p.
func Measure(p *policy.Policy, file string, src []byte, fixtures []check.Fixture, o Options) (Coverage, error) {
	cases, err := casesOf(p, fixtures, o, policy.OnCall, policy.OnReply, policy.OnList, policy.OnUpload)
	if err != nil {
		return Coverage{}, err
	}
	d, err := readDocument(file, src, p, o.Policy)
	if err != nil {
		return Coverage{}, err
	}
	m := meter{document: d, options: &o, cases: cases, reaching: make([][]reachingCall, len(d.sources))}
	m.traceCases()
	for i, r := range d.rules {
		if d.isOwn(i) {
			m.source, m.text = d.sources[i], r
			m.measureRule(i)
		}
	}
	if m.stopped {
		return Coverage{}, ErrStopped
	}
	m.findReachingCalls(p, o)
	return Coverage{m.points}, nil
}

// meter measures the rules of a policy, one after the other.
type meter struct {
	*document
	options  *Options
	stopped  bool // Options.Done ended the measurement, so points are missing
	cases    []testCase
	reaching [][]reachingCall // the calls that reach a rule, by the index of the rule
	points   []Point

	// source and text are the rule that is measured now. above has the indexes of the
	// earlier rules that surely or perhaps match a call that still reaches this rule.
	source policy.Source
	text   policytext.Rule
	above  map[int]bool
}

// reachingCall is a call of a case that reached a rule.
type reachingCall struct {
	caseIndex int
	call      *policy.Call
	matches   bool    // the rule surely or perhaps matches the call
	matched   []int32 // indexes of the rules above that match the call
}

// traceCases finds out which calls reach which rules.
func (m *meter) traceCases() {
	for k := range m.cases {
		if m.stopped = m.options.isDone(); m.stopped {
			return
		}
		p, readings := m.policy.PolicyFor(m.cases[k].on), m.cases[k].listReadings()
		if p == nil {
			continue
		}
		for j := range readings {
			call := &readings[j]
			var matched []int32
			for _, s := range p.Trace(call).Steps {
				matches := s.Match != where.No
				if s.Reached {
					m.reaching[s.Rule] = append(m.reaching[s.Rule], reachingCall{k, call, matches, matched[:len(matched):len(matched)]})
				}
				if s.Reached && matches {
					matched = append(matched, int32(s.Rule))
				}
			}
		}
	}
}

func (m *meter) measureRule(i int) {
	m.above = map[int]bool{}
	found := ""
	for _, v := range m.reaching[i] {
		for _, j := range v.matched {
			m.above[int(j)] = true
		}
		if v.matches && found == "" {
			found = m.cases[v.caseIndex].path
		}
	}
	m.addPoint(i, theRule, "matches", found, m.describeSubject()+" that every condition of the rule fits, and that no rule above decides")
	typed := constraintPaths(m.source)
	leaves := m.text.Leaves(typed...)
	for j := range leaves {
		l := &leaves[j]
		if isConstraintPart(l, typed) {
			continue
		}
		call, _ := policy.CallKeyOf(l.Path[0])
		switch l.Path[0] {
		case m.source.About.RuleKey():
			m.measureValues(i, l)
		case "not":
			m.measureExceptions(i, l)
		default:
			if call.Proof == policy.FoundKinds {
				m.measureValues(i, l)
			}
			if !call.Glob {
				break
			}
			fallthrough
		case "args", "where":
			m.measureValues(i, l)
			m.measureCondition(i, leafName(l), leafName(l)+" "+oneLine(m.src[l.Value.Start:l.Value.End]), append(l.RemoveEdits(), m.openingEdits(leaves)...))
		case "args_only":
			m.measureCondition(i, leafName(l), leafName(l)+" "+oneLine(m.src[l.Value.Start:l.Value.End]), l.RemoveEdits())
		}
	}
	for _, c := range m.source.Calls {
		// The condition find is not measured in a rule about replies, or in a redact rule. Without
		// find, a rule about replies judges something else, and a redact rule redacts nothing.
		needed := c.Key == "find" && (m.source.On != policy.OnCall || m.source.Action.AltersContent())
		if c.Globs == nil && !needed {
			m.measureCondition(i, c.Key, c.Key, m.text.RemoveKey(c.Key))
		}
	}
}

// measureExceptions checks for each glob of an exception whether a call shows its effect: without
// the glob, the rule would match the call.
func (m *meter) measureExceptions(i int, l *policytext.Leaf) {
	for j, one := range l.Value.Elements {
		if len(l.Value.Elements) > 1 {
			only := string(m.src[one.Start:one.End])
			m.measureCondition(i, leafName(l)+" "+only, leafName(l)+" "+only, []policytext.Edit{removeElement(l, j)})
		}
	}
	if len(l.Value.Elements) < 2 {
		m.measureCondition(i, leafName(l), leafName(l)+" "+oneLine(m.src[l.Value.Start:l.Value.End]), l.RemoveEdits())
	}
}

// openingEdits returns edits after which the rule accepts arguments for which it has no condition.
// Without these edits, the rule would not match calls with an argument whose condition is removed
// for a measurement.
func (m *meter) openingEdits(leaves []policytext.Leaf) []policytext.Edit {
	edits := append(m.text.RemoveKey("args_only"), m.text.RemoveKey("args_open")...)
	if m.source.Action != policy.Allow || len(m.source.ArgumentPaths()) < 2 {
		return edits
	}
	at := leaves[slices.IndexFunc(leaves, func(l policytext.Leaf) bool { return l.Path[0] == "action" })].Value.End
	return append(edits, policytext.Edit{Start: at, End: at, Text: "\nargs_open = true"})
}

// constraintPaths returns the paths of the typed constraints in a rule.
func constraintPaths(s policy.Source) [][]string {
	var paths [][]string
	for _, w := range s.Where {
		paths = append(paths, slices.Concat([]string{"where"}, w.Path, []string{w.Key}))
	}
	return paths
}

// isConstraintPart reports whether a leaf is a part of a constraint's value. Such a part is not
// measured, because it is no condition by itself.
func isConstraintPart(l *policytext.Leaf, typed [][]string) bool {
	return slices.ContainsFunc(typed, func(path []string) bool {
		return len(l.Path) > len(path) && slices.Equal(l.Path[:len(path)], path)
	})
}

// findReachingCalls looks at the rules that no call of a fixture reaches. For each of them it
// searches for a call that reaches the rule.
func (m *meter) findReachingCalls(p *policy.Policy, o Options) {
	missed := func(pt Point) bool { return !pt.Covered && pt.What == theRule }
	if !slices.ContainsFunc(m.points, missed) {
		return
	}
	found := prove.Reach(p, prove.Options{Work: cmp.Or(o.Work, usualWork), Done: o.Done})
	for i := range m.points {
		pt := &m.points[i]
		if !missed(*pt) {
			continue
		}
		switch f := found[pt.Rule]; {
		case f.Status == prove.Covered:
			pt.Hint = "none can: rules above take every call (clawai policy lint)"
		case f.Witness != nil:
			if composed, err := check.Compose(f.Witness, p.Decide(f.Witness).Action); err == nil {
				pt.Fixture = &composed
			}
		}
	}
}

// measureValues checks, for each value of a list, whether the rule still matches some call if this
// is the only value.
func (m *meter) measureValues(i int, l *policytext.Leaf) {
	list := l.Value.Elements
	if len(list) < 2 {
		return
	}
	for j := range list {
		only := string(m.src[list[j].Start:list[j].End])
		found := m.findCase(i, func(reachingCall) bool { return true }, l.SetValue("["+only+"]"))
		m.addPoint(i, leafName(l)+" "+only, "matches", found, fmt.Sprintf("%s that the rule matches by this value of %s", m.describeSubject(), leafName(l)))
	}
}

// measureCondition checks whether there is a call that the rule does not match now, but matches
// after the edits (without) that remove the condition.
func (m *meter) measureCondition(i int, condition, what string, without []policytext.Edit) {
	found := m.findCase(i, func(v reachingCall) bool { return !v.matches }, without...)
	m.addPoint(i, what, "fails", found,
		fmt.Sprintf("%s that fits the rule but for %s, and that no rule above decides", m.describeSubject(), condition))
}

// findCase looks for a call that the edited rule matches and for which accepts returns true. It
// returns the path of the first case with such a call; "" if there is none. The call is judged by a
// policy with only the edited rule and the rules in m.above.
func (m *meter) findCase(i int, accepts func(reachingCall) bool, edits ...policytext.Edit) string {
	if m.stopped || !slices.ContainsFunc(m.reaching[i], accepts) {
		return ""
	}
	p, err := m.parseRules(func(j int) bool { return j == i || m.above[j] }, edits...)
	if err != nil {
		return ""
	}
	at := len(m.above)
	for _, v := range m.reaching[i] {
		if !accepts(v) {
			continue
		}
		if m.stopped = m.stopped || m.options.isDone(); m.stopped {
			return ""
		}
		if s := p.PolicyFor(m.source.On).Trace(v.call).Steps[at]; s.Reached && s.Match != where.No {
			return m.cases[v.caseIndex].path
		}
	}
	return ""
}

// describeSubject returns a phrase about the calls or replies that the current rule judges.
func (m *meter) describeSubject() string {
	return [...]string{policy.OnCall: "a call", policy.OnReply: "a result of a call", policy.OnList: "an entry of a list", policy.OnUpload: "what goes to a model"}[m.source.On]
}

func (m *meter) addPoint(rule int, what, way, by, hint string) {
	p := Point{Rule: rule, Line: m.source.Pos.Line, What: what, Way: way, Covered: by != "", By: by}
	if by == "" {
		p.Hint = hint
	}
	m.points = append(m.points, p)
}

// oneLine returns a value on one line.
func oneLine(text []byte) string { return strings.Join(strings.Fields(string(text)), " ") }

// Score returns the number of covered points, and the number of all points.
func (c Coverage) Score() (covered, total int) {
	for _, p := range c.Points {
		if p.Covered {
			covered++
		}
	}
	return covered, len(c.Points)
}
