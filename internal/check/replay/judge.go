package replay

import (
	"errors"
	"fmt"
	"slices"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where"
)

// Judge judges recorded calls by a policy.
type Judge struct {
	policy  *policy.Policy          // the policy with its layers
	alone   *policy.Policy          // the policy without its layers
	layers  []layer                 // the layers above the policy
	replies [policy.OnCount][]layer // by kind of message: the policy and those of its layers that have rules about replies, lists or uploads
	sources []policy.Source         // the rules of alone
	src     []byte
	file    string
	options policy.Options            // parse options, without the layers
	blind   bool                      // some rule looks at data that not every record has
	without map[string]*policy.Policy // cache of withoutRules
}

// layer is a policy with the list of its rules.
type layer struct {
	policy  *policy.Policy
	sources []policy.Source
}

// NewJudge parses the policy, with the layers that the options put above it. The error is of type
// policy.Errors.
func NewJudge(file string, src []byte, o policy.Options) (*Judge, error) {
	p, err := policy.Parse(file, src, o)
	if err != nil {
		return nil, err
	}
	j := &Judge{policy: p, alone: p, sources: p.Sources(), src: src, file: file, options: o, without: map[string]*policy.Policy{}}
	if len(o.Above) > 0 {
		j.options.Above = nil
		if j.alone, err = policy.Parse(file, src, j.options); err != nil {
			return nil, err
		}
	}
	for _, p := range append([]*policy.Policy{j.alone}, o.Above...) {
		for on := policy.OnReply; on < policy.OnCount; on++ {
			if q := p.PolicyFor(on); q != nil {
				j.replies[on] = append(j.replies[on], layer{q, q.Sources()})
			}
		}
	}
	j.blind = slices.ContainsFunc(j.sources, needsUnrecorded)
	for _, p := range o.Above {
		l := layer{p, p.Sources()}
		j.layers, j.blind = append(j.layers, l), j.blind || slices.ContainsFunc(l.sources, needsUnrecorded)
	}
	return j, nil
}

// Policy returns the policy with its layers.
func (j *Judge) Policy() *policy.Policy { return j.policy }

// maxWithout is the maximum number of policies in the cache without.
const maxWithout = 64

// JudgeCall decides a recorded call. If the record does not have the data for a rule, the rule may
// match or not. The answer is certain only if it is the same without all such rules and with each
// of them. Otherwise JudgeCall returns a reason. If a layer has such a rule, only a deny by another
// layer or by the policy itself is certain, because no layer can undo a deny.
func (j *Judge) JudgeCall(c *Call) (policy.Decision, Why) {
	d, why := j.judgeAll(c)
	if why == "" && d.Action != policy.Deny && c.odd {
		why = Malformed
	}
	return d, why
}

func (j *Judge) judgeAll(c *Call) (policy.Decision, Why) {
	if c.Missing.IsComplete() && !j.blind {
		return j.policy.Decide(&c.Call), ""
	}
	d, unsure := j.judgeOwn(c)
	for i := range j.layers {
		if d.Action == policy.Deny && unsure == "" {
			break
		}
		rules, why := doubtfulRules(j.layers[i].policy, j.layers[i].sources, c)
		if len(rules) > 0 {
			unsure = why
			continue
		}
		switch e := j.layers[i].policy.Decide(&c.Call); {
		case e.Action == policy.Deny:
			d, unsure = e, ""
		case unsure == "" && e.Action < d.Action:
			d = e
		}
	}
	if unsure != "" {
		return policy.Decision{}, unsure
	}
	return d, ""
}

// judgeOwn decides the call by the policy without its layers.
func (j *Judge) judgeOwn(c *Call) (policy.Decision, Why) {
	doubtful, why := doubtfulRules(j.alone, j.sources, c)
	if len(doubtful) == 0 {
		return j.alone.Decide(&c.Call), ""
	}
	if c.Missing.large {
		return policy.Decision{}, why
	}
	rest, err := j.withoutRules(doubtful, nil)
	if err != nil {
		return policy.Decision{}, why
	}
	d := rest.Decide(&c.Call)
	// Doubtful rules below a rule that denies cannot change the answer, because a deny is the
	// strictest answer.
	end := len(j.sources)
	if d.Action == policy.Deny && d.Rule != nil {
		end = j.originalIndex(d.Rule.Index, doubtful)
	}
	for _, i := range doubtful {
		if i < end && j.sources[i].Action != d.Action {
			return policy.Decision{}, why
		}
	}
	return d, ""
}

// doubtfulRules lists the rules that may decide the call and look at data that the record does not
// have.
func doubtfulRules(p *policy.Policy, sources []policy.Source, c *Call) (rules []int, why Why) {
	var steps []policy.Step
	for i := range sources {
		s := &sources[i]
		if s.Subject != c.Subject {
			continue
		}
		w := c.Missing.whyUnknown(s)
		if w == "" && !c.knowsConditions(p, s) {
			if steps == nil {
				steps = c.traceUnscreened(p)
			}
			if w = Unrecorded; c.isSpared(&steps[i]) {
				continue
			}
		}
		if w != "" {
			rules, why = append(rules, i), w
		}
	}
	return rules, why
}

// traceUnscreened returns the results of the rules for the call, as if it had not been searched for
// findings.
func (c *Call) traceUnscreened(p *policy.Policy) []policy.Step {
	unscreened := c.Call
	unscreened.Finds, unscreened.Screened = nil, false
	t := p.Trace(&unscreened)
	if t.Cut {
		return make([]policy.Step, len(t.Steps)) // the trace was cut; isSpared returns false for an empty step
	}
	return t.Steps
}

// isSpared reports whether a rule cannot decide the call, whatever the missing data are. One
// possible reason is that the name or a condition on the whole call does not match. If the record
// has the complete call, there are two more: the rule does not match, or rules above the rule
// decide.
func (c *Call) isSpared(s *policy.Step) bool {
	switch {
	case s.Match == where.No && (s.At.Kind == policy.NameGlob || s.At.Kind == policy.CallCondition):
		return true
	case s.At.Kind == policy.Unasked && s.Match == where.No:
		return false
	}
	return c.Missing.IsComplete() && (s.Match == where.No || !s.Reached)
}

// CertainPolicy removes the rules that look at missing data. It returns the policy without these
// rules, and the list of these rules. The other rules keep their positions. If a layer has such a
// rule, the whole layer is removed.
func (j *Judge) CertainPolicy(c *Call) (*policy.Policy, []policy.Rule, Why) {
	if c.Missing.IsComplete() && !j.blind {
		return j.policy, nil, ""
	}
	own, why := doubtfulRules(j.alone, j.sources, c)
	var left []policy.Rule
	for _, i := range own {
		left = append(left, j.sources[i].Rule)
	}
	var above []*policy.Policy
	for i := range j.layers {
		l := &j.layers[i]
		rules, w := doubtfulRules(l.policy, l.sources, c)
		if len(rules) == 0 {
			above = append(above, l.policy)
			continue
		}
		why = w
		for _, i := range rules {
			left = append(left, l.sources[i].Rule)
		}
	}
	if len(left) == 0 {
		return j.policy, nil, ""
	}
	rest, err := j.withoutRules(own, above)
	if err != nil {
		rest = &policy.Policy{}
	}
	return rest, left, why
}

// errElsewhere means that a rule to remove is in a file that the policy extends.
var errElsewhere = errors.New("a rule of another file")

// withoutRules returns the policy without some rules. The parameter above has the layers that stand
// above this policy.
func (j *Judge) withoutRules(rules []int, above []*policy.Policy) (*policy.Policy, error) {
	key := fmt.Sprint(rules)
	for _, p := range above {
		key += fmt.Sprintf(" %p", p)
	}
	if p := j.without[key]; p != nil {
		return p, nil
	}
	var text []byte
	from := 0
	for _, i := range rules {
		s := &j.sources[i]
		if s.Pos.File != j.file {
			return nil, errElsewhere
		}
		// Keep the line ends of a removed rule, so that the other rules keep their positions.
		text = append(text, j.src[from:s.Start]...)
		for _, c := range j.src[s.Start:s.End] {
			if c == '\n' {
				text = append(text, c)
			}
		}
		from = s.End
	}
	o := j.options
	o.Above = above
	p, err := policy.Parse(j.file, append(text, j.src[from:]...), o)
	if err != nil {
		return nil, err
	}
	if len(j.without) >= maxWithout {
		clear(j.without)
	}
	j.without[key] = p
	return p, nil
}

// originalIndex returns the index of a rule in the complete policy. index is its index in the
// policy without the removed rules.
func (j *Judge) originalIndex(index int, removed []int) int {
	for _, i := range removed {
		if i <= index {
			index++
		}
	}
	return index
}
