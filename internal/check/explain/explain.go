// Package explain tells people why a policy answers a message as it does: what
// was judged, how it could be read, and what each rule said. It finds out nothing
// by itself; policy.Trace does.
package explain

import (
	"slices"
	"time"

	"github.com/clawai/clawai/policy"
)

// Explanation is what a policy says of one message, and why.
type Explanation struct {
	Revision string          // of the policy
	Refused  string          // why the message does not even reach the rules; else ""
	Calls    []Judged        // what the rules judge in it; none in what is passed on
	Decision policy.Decision // of all calls together
	sources  []policy.Source
}

// Judged is one call and what every rule says of it.
type Judged struct {
	policy.Call
	policy.Trace
	Layers []Layer // what the policies above say, from the outermost in
	// Limits over all tools that the call counts against: none of a call that is denied.
	Limits []policy.LimitTable
}

// Layer is what a policy says that stands over another and can only tighten it.
type Layer struct {
	Name, File string
	policy.Trace
	sources []policy.Source
}

// DescribeCalls explains the calls of one message, which stand or fall together.
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

// countingLimits lists the limits of a policy and its layers that a call counts against.
func countingLimits(p *policy.Policy, c *policy.Call) (limits []policy.LimitTable) {
	if p.Decide(c).Action == policy.Deny {
		return nil
	}
	for _, q := range append(slices.Clone(p.Layers()), p) {
		limits = append(limits, slices.DeleteFunc(q.LimitTables(), func(l policy.LimitTable) bool { return !l.CoversCall(c) })...)
	}
	return limits
}

// DescribeRefusal explains a message that never reaches the rules.
func DescribeRefusal(p *policy.Policy, why error) *Explanation {
	return &Explanation{Revision: p.Revision(), sources: p.Sources(), Refused: why.Error()}
}

// FillTime gives a time to every call that has none.
func FillTime(calls []policy.Call, t time.Time) []policy.Call {
	for i := range calls {
		if calls[i].At.IsZero() {
			calls[i].At = t
		}
	}
	return calls
}

// FillPlace gives a folder to every call that has none, at which its relative paths start, and a
// system that its server runs on.
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

// isUngoverned says that no rule governs the message.
func (e *Explanation) isUngoverned() bool { return e.Refused == "" && len(e.Calls) == 0 }

// isOtherSubject says that a rule is about other things than the call.
func isOtherSubject(s *policy.Step) bool {
	return s.At.Kind == policy.SubjectKind || s.At.Kind == policy.NameGlob && s.At.Reading == nil
}

// isOwnRule reports whether a rule is one of the policy itself, and not of a layer.
func (e *Explanation) isOwnRule(r *policy.Rule) bool {
	return r.Index < len(e.sources) && e.sources[r.Index].Rule == *r
}
