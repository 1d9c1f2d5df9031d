// Package explain explains why a policy answers a message as it does: the
// judged calls, their readings, and the result of each rule. It only presents
// the results of policy.Trace.
package explain

import (
	"slices"
	"time"

	"github.com/clawai/clawai/policy"
)

// Explanation is the answer of a policy to one message, with the reasons.
type Explanation struct {
	Revision string          // of the policy
	Refused  string          // why the message does not reach the rules, or ""
	Calls    []Judged        // the calls in the message that rules judge; empty if none
	Decision policy.Decision // for all calls together
	sources  []policy.Source
}

// Judged is one call with the result of every rule.
type Judged struct {
	policy.Call
	policy.Trace
	Layers []Layer // results of the policies above, outermost first
	// Limits are the limits over all tools that the call counts against. A
	// denied call has none.
	Limits []policy.LimitTable
}

// Layer is the result of a policy that stands above another and can only
// tighten it.
type Layer struct {
	Name, File string
	policy.Trace
	sources []policy.Source
}

// DescribeCalls explains the calls of one message. They share one answer.
func DescribeCalls(p *policy.Policy, calls []policy.Call) *Explanation {
	e := &Explanation{Revision: p.Revision(), sources: p.Sources()}
	if len(calls) == 0 {
		e.Decision.Action = policy.Allow
		return e
	}
	for i := range calls {
		j := Judged{Call: calls[i], Trace: p.Trace(&calls[i])}
		for _, above := range p.Layers() {
			j.Layers = append(j.Layers, Layer{above.LayerName(), above.FileName(), above.Trace(&calls[i]), above.Sources()})
		}
		j.Limits = countingLimits(p, &calls[i])
		e.Calls = append(e.Calls, j)
	}
	e.Decision = p.DecideAll(calls)
	return e
}

// countingLimits lists the limits of a policy and its layers that a call counts
// against.
func countingLimits(p *policy.Policy, c *policy.Call) (limits []policy.LimitTable) {
	if p.Decide(c).Action == policy.Deny {
		return nil
	}
	for _, q := range append(slices.Clone(p.Layers()), p) {
		limits = append(limits, slices.DeleteFunc(q.LimitTables(), func(l policy.LimitTable) bool { return !l.CoversCall(c) })...)
	}
	return limits
}

// DescribeRefusal explains a message that does not reach the rules.
func DescribeRefusal(p *policy.Policy, why error) *Explanation {
	return &Explanation{Revision: p.Revision(), sources: p.Sources(), Refused: why.Error()}
}

// FillTime sets the time of every call that has none.
func FillTime(calls []policy.Call, t time.Time) []policy.Call {
	for i := range calls {
		if calls[i].At.IsZero() {
			calls[i].At = t
		}
	}
	return calls
}

// FillPlace sets the folder of relative paths, and the server's operating
// system, for every call that has none.
func FillPlace(calls []policy.Call, dir, os string) []policy.Call {
	for i := range calls {
		if calls[i].OS == "" {
			calls[i].OS = os
		}
		if calls[i].Cwd == "" {
			calls[i].Cwd = dir
		}
	}
	return calls
}

// isUngoverned reports whether no rule governs the message.
func (e *Explanation) isUngoverned() bool { return e.Refused == "" && len(e.Calls) == 0 }

// isOtherSubject reports whether a rule is about another subject or other names
// than the call.
func isOtherSubject(s *policy.Step) bool {
	return s.At.Kind == policy.SubjectKind || s.At.Kind == policy.NameGlob && s.At.Reading == nil
}

// isOwnRule reports whether a rule belongs to the policy itself and not to a
// layer.
func (e *Explanation) isOwnRule(r *policy.Rule) bool {
	return r.Index < len(e.sources) && e.sources[r.Index].Rule == *r
}
