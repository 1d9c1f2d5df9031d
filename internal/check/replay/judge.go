package replay

import (
	"errors"
	"fmt"
	"slices"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where"
)

// Judge answers what a policy says of recorded calls.
type Judge struct {
	policy  *policy.Policy // under its layers
	alone   *policy.Policy
	layers  []layer
	replies [policy.OnList + 1][]layer // the same, and the policy itself, of what comes back
	sources []policy.Source
	src     []byte
	file    string
	options policy.Options            // without the layers
	blind   bool                      // some rule looks at what no record keeps
	without map[string]*policy.Policy // by the rules and layers that are left out
}

// layer is a policy above, whose text is not at hand.
type layer struct {
	policy  *policy.Policy
	sources []policy.Source
}

// NewJudge parses the policy, which stands under the layers of the options. The
// error is policy.Errors.
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
		for on := policy.OnReply; on <= policy.OnList; on++ {
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

// Policy is the policy that judges, under its layers.
func (j *Judge) Policy() *policy.Policy { return j.policy }

// maxWithout bounds the policies that are kept.
const maxWithout = 64

// JudgeCall decides a recorded call. Where the record does not keep what a rule
// looks at, that rule may match in some readings and not in others; so the
// answer is certain only if it is the same without all such rules and with any of
// them. A reason says that it is not. A layer with such a rule has no answer at
// all; only a deny of another part is certain beside it, for layers open nothing.
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

// judgeOwn gives the answer of the policy itself.
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
	// A deny holds whatever the rules below it say: it is the strictest.
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

// doubtfulRules lists the rules of a policy that look at what the record does not keep, and
// may decide the call by it.
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
				steps = c.openSteps(p)
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

// openSteps gives what rules say of the call with all of it open that a record may lack.
func (c *Call) openSteps(p *policy.Policy) []policy.Step {
	open := c.Call
	open.Finds, open.Screened = nil, false
	t := p.Trace(&open)
	if t.Cut {
		return make([]policy.Step, len(t.Steps)) // they say nothing
	}
	return t.Steps
}

// isSpared says that a rule plays no part whatever the record lacks: the call is not what
// it is about or, where all arguments are there, others decide it first.
func (c *Call) isSpared(s *policy.Step) bool {
	switch {
	case s.Match == where.No && (s.At.Kind == policy.NameGlob || s.At.Kind == policy.CallCondition):
		return true
	case s.At.Kind == policy.Unasked && s.Match == where.No:
		return false
	}
	return c.Missing.IsComplete() && (s.Match == where.No || !s.Reached)
}

// CertainPolicy gives the policy without the rules that look at what the record does not
// keep of a call, and those rules. The others stand where they stood; a layer
// with such a rule is left out as a whole.
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

// errElsewhere says that a rule stands in a file that the policy extends.
var errElsewhere = errors.New("a rule of another file")

// withoutRules gives the policy without some of its rules, under some of its layers.
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
		// Line ends stay, so that the other rules keep their places.
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

// originalIndex gives the place of a rule in the whole policy.
func (j *Judge) originalIndex(index int, left []int) int {
	for _, i := range left {
		if i <= index {
			index++
		}
	}
	return index
}
