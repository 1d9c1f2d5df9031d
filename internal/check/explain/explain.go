// Package explain tells why a policy answers a message as it does: which calls were judged, their
// readings, and the result of each rule. It only shows what policy.Trace returns.
package explain

import (
	"slices"
	"time"

	"github.com/clawai/clawai/policy"
)

// Explanation is the answer of a policy to one message, and the reasons for the answer.
type Explanation struct {
	Revision string          // revision of the policy
	Refused  string          // why the proxy refuses the message before the rules; "" if it does not refuse it
	Calls    []Judged        // the calls in the message that rules judge; may be empty
	Decision policy.Decision // the decision for all calls together
	sources  []policy.Source
}

// Judged is one call with the results of all rules.
type Judged struct {
	policy.Call
	policy.Trace
	Layers []Layer // results of the layers above the policy, outermost first
	// Limits holds the [[limit]] tables of the policy and its layers that count this call. For a
	// denied call the list is empty, because no table counts a denied call.
	Limits []policy.LimitTable
}

// Layer is the result of one layer. A layer is a policy above the explained policy; it can only
// make the answer stricter.
type Layer struct {
	Name, File string
	policy.Trace
	sources []policy.Source
}

// DescribeCalls explains the answer to the calls of one message.
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
		j.Limits = listLimits(p, &calls[i])
		e.Calls = append(e.Calls, j)
	}
	e.Decision = p.DecideAll(calls)
	return e
}

// listLimits lists the [[limit]] tables of the policy and its layers that count a call.
func listLimits(p *policy.Policy, c *policy.Call) (limits []policy.LimitTable) {
	if p.Decide(c).Action == policy.Deny {
		return nil
	}
	for _, q := range append(slices.Clone(p.Layers()), p) {
		limits = append(limits, slices.DeleteFunc(q.LimitTables(), func(l policy.LimitTable) bool { return !l.CoversCall(c) })...)
	}
	return limits
}

// DescribeRefusal explains why a message is refused before the rules.
func DescribeRefusal(p *policy.Policy, why error) *Explanation {
	return &Explanation{Revision: p.Revision(), sources: p.Sources(), Refused: why.Error()}
}

// FillTime sets the time in each call that has none.
func FillTime(calls []policy.Call, t time.Time) []policy.Call {
	for i := range calls {
		if calls[i].At.IsZero() {
			calls[i].At = t
		}
	}
	return calls
}

// FillPlace sets two facts in each call that lacks them: the folder where relative paths start, and
// the server's operating system.
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

// isUngoverned reports whether no rule is about this kind of message.
func (e *Explanation) isUngoverned() bool { return e.Refused == "" && len(e.Calls) == 0 }

// isOtherSubject reports whether a rule is about another subject, or about other names, than the
// call.
func isOtherSubject(s *policy.Step) bool {
	return s.At.Kind == policy.SubjectKind || s.At.Kind == policy.NameGlob && s.At.Reading == nil
}

// isOwnRule reports whether a rule is in the explained policy and not in a layer.
func (e *Explanation) isOwnRule(r *policy.Rule) bool {
	return r.Index < len(e.sources) && e.sources[r.Index].Rule == *r
}
