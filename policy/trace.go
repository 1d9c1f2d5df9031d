package policy

import (
	"math/bits"

	"github.com/clawai/clawai/policy/internal/effort"
	"github.com/clawai/clawai/policy/reading"
	"github.com/clawai/clawai/policy/where"
)

// Trace holds the result of every rule for a call, and the reasons. It is for people and analyses.
// A trace judges every rule, so it takes far longer than Decide.
type Trace struct {
	Decision Decision        // the action and the rule of Decide
	Values   []ArgumentValue // the call's values that the rules about this subject read
	Steps    []Step          // one for each rule of the policy, in order
	// Cut means that the trace stopped at its limit of work. The decision is valid, but the steps
	// show only the results until then.
	Cut bool
}

// Step is the result of one rule.
type Step struct {
	Rule int // index of the rule
	// Match tells whether the rule matched a reading that was still undecided. If no reading was
	// undecided, Match tells whether the rule matches any reading.
	Match where.Match
	// Reached means that the rule's name fits and that at least one reading was still undecided
	// when the walk came to the rule. A rule that matches but is not reached decides nothing,
	// because rules above it decided every reading.
	Reached bool
	// At is the condition that did not match or could not be decided. If the walk judged the rule
	// several times, At is from the attempt that came closest to a match. At is zero if the rule
	// matches, or if no rule was judged because the call is malformed.
	At Condition
	// Took is a reading that the rule matched, with Yes or Maybe. It is nil if no argument with a
	// condition of the rule has more than one reading.
	Took *Reading
}

// ConditionKind is a kind of condition of a rule.
type ConditionKind uint8

// The kinds, in the order in which the walk judges the conditions of a rule.
const (
	Unasked         ConditionKind = iota // the rule matches, or was not judged
	SubjectKind                          // the rule is about another subject, for example about tools if the call reads a resource
	NameGlob                             // tool = "..."
	CallCondition                        // a condition on the call as a whole: server = "...", when = { ... }
	ArgumentGlob                         // args.<name> = "..."
	Constraint                           // where.<name>.<key> = ...
	FurtherArgument                      // an argument without a condition, or args_only
	OtherOn                              // the rule has another On than the policy, for example replies and not calls
)

// Condition is one condition of a rule, and the value that was compared with it.
type Condition struct {
	Kind ConditionKind
	Not  bool     // the condition is an exception: none of the globs in Want may match
	Key  string   // the key of a CallCondition
	Path []string // for a condition on an argument: the names below "args" or "where"
	Want []string // the globs as written, one of which must match; or the subject's key; or the TOML of a constraint, an args_only, or a call key that takes no glob
	// Got is the text that was compared with a name or a condition on the call; "" if the call does
	// not have it. For a further argument Got is the reason why the argument is suspicious
	// (reading.Suspicion).
	Got string
	// Reading is the reading of an argument or a URI that was compared with the condition; nil if
	// the call has no such argument.
	Reading *Reading
}

// ReachedRules returns the rules that matched, with Yes or Maybe, a reading that was still
// undecided when the walk came to them.
func (t *Trace) ReachedRules() []int {
	var rules []int
	for i := range t.Steps {
		if s := &t.Steps[i]; s.Reached && s.Match != where.No {
			rules = append(rules, s.Rule)
		}
	}
	return rules
}

// traceEffort is the effort limit of a trace. It is larger than the limit of Decide: a trace
// also judges the rules that Decide skips because of the index, and it continues after the
// decision.
const traceEffort = 4 * effort.Max

// Trace judges a call as Decide does, but walks through all rules and keeps the result of each
// rule. It judges every reading by all rules. Decide stops earlier, when nothing can change the
// answer any more.
func (p *Policy) Trace(c *Call) Trace {
	t, _ := p.traceWithDecision(c, traceEffort)
	t.Decision = p.Decide(c)
	t.Cut = t.Cut || t.Decision.Reason == effort.TooMuch
	return t
}

// traceWithDecision returns the trace and the answer of the trace's own walk.
func (p *Policy) traceWithDecision(c *Call, left effort.Left) (Trace, Decision) {
	t := Trace{Steps: make([]Step, len(p.sources))}
	for i := range t.Steps {
		t.Steps[i].Rule = i
	}
	if why := malformedReason(c); why != "" {
		return t, Decision{Reason: why}
	}
	p = p.forSystem(c.OS)
	tr := &tracer{policy: p, call: c, trace: &t, depth: make([]int, len(p.sources))}
	v := &view{policy: p, call: c, left: left, trace: tr}
	var d Decision
	worst := outcome{rank: none}
	for i, name := range c.Names {
		tr.beginName(v, name)
		o := v.judgeName(name)
		if i == 0 {
			d, worst = v.toDecision(o), o
		} else if v.policy.mergeOutcome(&worst, o) {
			d = v.toDecision(worst)
		}
		tr.addValues(v)
	}
	t.Cut = v.left <= 0
	return t, d
}

// tracer records a walk. A nil tracer turns tracing off.
type tracer struct {
	policy *Policy
	call   *Call
	trace  *Trace
	all    []int32 // the rules about the call's subject
	depth  []int   // by rule: the number of conditions that its best attempt met, plus 1
	name   string
}

// beginName records the results of the rules about other subjects and other names. The walk does
// not judge these rules.
func (t *tracer) beginName(v *view, name string) {
	t.name, t.all, v.tool = name, t.all[:0], builtinOf(t.call, name)
	for i := range t.trace.Steps {
		at, src := &t.trace.Steps[i].At, &t.policy.sources[i]
		if on := t.policy.options.judges; src.On != on {
			*at = Condition{Kind: OtherOn, Want: []string{src.On.String()}, Got: on.String()}
			continue
		}
		if !src.coversSubject(t.call.Subject) {
			*at = Condition{Kind: SubjectKind, Want: []string{src.subject.RuleKey()}, Got: t.call.Subject.RuleKey()}
			continue
		}
		t.all = append(t.all, int32(i))
		if r := &t.policy.rules[i]; t.depth[i] == 0 && !v.matchesName(r, name) {
			*at = Condition{Kind: NameGlob, Want: src.patterns, Got: bothNames(name, v.tool.Class)}
			if v.oneOf(r.names, name) {
				at.Not, at.Want = true, src.not.patterns
			}
		}
	}
}

// bothNames returns a tool's own name and the name of its class, for people.
func bothNames(own, class string) string {
	if class == "" {
		return own
	}
	return own + " (" + class + ")"
}

// traceRule records a rule whose name fits: the pending readings that the rule matches, and those
// that it may match.
func (t *tracer) traceRule(v *view, id int32, main *span, readings []reading.Reading, pending, sure, perhaps uint64) {
	r, s := &t.policy.rules[id], &t.trace.Steps[id]
	everything := uint64(1)
	if main != nil {
		everything = 1<<len(readings) - 1
	}
	n := Step{Rule: s.Rule, Reached: pending != 0}
	if !n.Reached {
		pending = everything
		sure, perhaps = v.matchRule(r, main, readings, pending)
	}
	switch {
	case sure != 0:
		n.Match = where.Yes
	case perhaps != 0:
		n.Match = where.Maybe
	}
	if n.Match == where.Maybe {
		pending = perhaps & -perhaps
	}
	fail := v.findObstacle(r, main, readings, pending, n.Match)
	if old := t.depth[id]; old == 0 || isCloser(&n, fail.depth, s, old) {
		n.At, t.depth[id] = t.describeCondition(int(id), fail), fail.depth
		if n.Match != where.No && main != nil && r.readsSlot(main.slot) {
			n.Took = t.policy.copyReading(&readings[bits.TrailingZeros64(sure|perhaps)])
		}
		*s = n
	}
}

// isCloser reports whether attempt a of a rule came closer to a match than attempt b.
func isCloser(a *Step, aDepth int, b *Step, bDepth int) bool {
	switch {
	case a.Reached != b.Reached:
		return a.Reached
	case a.Match != b.Match:
		return a.Match > b.Match
	}
	return a.Match != where.Yes && aDepth > bDepth
}

func (r *rule) readsSlot(slot int32) bool {
	for i := range r.conditions {
		if r.conditions[i].slot == slot {
			return true
		}
	}
	return false
}

// obstacle is the condition at which one attempt of a rule ended.
type obstacle struct {
	kind  ConditionKind // Unasked if the attempt met no obstacle
	index int           // index of a condition on an argument, or on the call
	got   *reading.Reading
	found *furtherArgs // only for a further argument
	depth int          // the number of conditions that the attempt met, plus 1
}

// findObstacle returns the condition because of which a rule did not match, or matched only with
// Maybe.
func (v *view) findObstacle(r *rule, main *span, readings []reading.Reading, pending uint64, m where.Match) obstacle {
	at := obstacle{depth: 1}
	if m == where.Yes {
		return at
	}
	for i, t := range r.calls {
		if holds := t.matchCall(v.call); holds == where.No || holds == where.Maybe && m == where.Maybe {
			at.kind, at.index = CallCondition, i
			return at
		}
	}
	sure, perhaps := pending, uint64(0)
	for i := range r.conditions {
		c, holds := &r.conditions[i], where.Yes
		at.kind, at.index, at.depth = ArgumentGlob, i, at.depth+1
		if main != nil && c.slot == main.slot {
			at.got = &readings[bits.TrailingZeros64(sure|perhaps)]
			if sure, perhaps = v.narrowReadings(c, readings, sure, perhaps, r.action); sure == 0 {
				holds = where.Match(min(perhaps, uint64(where.Maybe)))
			}
		} else {
			holds, at.got = v.judgeWhole(c, r.action), v.pickReading(c, r.action)
		}
		if holds == where.No || holds == where.Maybe && m == where.Maybe {
			return at
		}
	}
	if r.further.watches {
		if m, found := v.judgeFurther(r); m != where.Yes {
			at = obstacle{kind: FurtherArgument, found: found, depth: at.depth + 1}
		}
	}
	return at
}

// pickReading returns the reading that the walk compared with a condition on an argument other than
// the main one. It returns nil if the call does not have the argument. If the walk judges all
// readings at once, pickReading returns the first reading that does not match, or else the first
// reading.
func (v *view) pickReading(c *condition, a Action) *reading.Reading {
	s := v.findSpan(c.slot)
	if s == nil {
		return nil
	}
	if s.at < 0 {
		for i := s.lo; i < s.hi; i++ {
			if v.judgeReading(c, &v.readings[i], a) != where.Yes {
				return &v.readings[i]
			}
		}
	}
	return &v.readings[max(s.lo, s.at)]
}

// compiledCondition returns calls[i] of the compiled rule as its author wrote it, and whether
// it is an exception.
func (r *ruleSource) compiledCondition(i int) (s *Stated, not bool) {
	all := r.callConditions()
	if n := len(all); i < n {
		return &all[n-1-i], false
	}
	return &r.not.calls[i-len(all)], true
}

// describeCondition describes the condition because of which a rule did not match, as its author
// wrote it.
func (t *tracer) describeCondition(rule int, at obstacle) Condition {
	src := &t.policy.sources[rule]
	c := Condition{Kind: at.kind}
	switch {
	case at.kind == CallCondition:
		s, not := src.compiledCondition(at.index)
		k, _ := CallKeyOf(s.Key)
		c.Not = not
		c.Key, c.Want, c.Got = s.Key, []string{s.Text}, k.describeValue(t.call)
		if k.Glob {
			c.Want = s.Globs
		}
	case at.kind == FurtherArgument:
		c.Path, c.Got = at.found.argumentPath(), at.found.why.String()
		if src.further.Only {
			c.Want = []string{src.further.formatArgsOnly()}
		}
	case at.kind == ArgumentGlob && t.policy.rules[rule].conditions[at.index].not:
		c.Not = true
		if src.subject == ResourceSubject {
			c.Kind, c.Want, c.Got = NameGlob, src.not.patterns, t.name
			break
		}
		e := &src.not.args[at.index-len(src.args)-len(src.where)]
		c.Path, c.Want = e.path, e.globs
	case at.kind == ArgumentGlob && at.index >= len(src.args) && src.subject != ResourceSubject:
		w := &src.where[at.index-len(src.args)]
		c.Kind, c.Path, c.Want = Constraint, w.path, []string{w.key.name + " = " + w.text()}
	case at.kind == ArgumentGlob && src.subject == ResourceSubject:
		c.Kind, c.Want, c.Got = NameGlob, src.patterns, t.name
	case at.kind == ArgumentGlob:
		c.Path, c.Want = src.args[at.index].path, src.args[at.index].globs
	}
	if at.got != nil {
		c.Reading = t.policy.copyReading(at.got)
	}
	return c
}
