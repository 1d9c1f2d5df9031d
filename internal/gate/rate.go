package gate

import (
	"fmt"
	"slices"
	"time"

	"github.com/clawai/clawai/policy"
)

// timed are the calls with the time in them, when the rules ask for it. They
// are copies: an Approver may be reading the others.
func timed(p Policy, cs []policy.Call) []policy.Call {
	if t, ok := p.(interface{ Timed() bool }); !ok || !t.Timed() {
		return cs
	}
	cs = slices.Clone(cs)
	now := time.Now()
	for i := range cs {
		cs[i].At = now
	}
	return cs
}

// rate counts x against the limits of the rules that let it pass or ask about
// it: before a person is asked, so that what waits is counted too. What is over
// is denied, or asked about.
func (s *Session) rate(x *Exchange, v Verdict, charges []policy.Charge) Verdict {
	if len(charges) == 0 {
		x.refund()
		return v
	}
	var over Excess
	x.paid, over = s.o.Limits.Charge(time.Now(), x.paid, charges, x.Calls)
	if over.Rule == nil && x.paid != nil {
		return v
	}
	v.Stage, v.Code = StageRate, CodeLimit
	if over.Rule == nil { // neither counted nor over: the zero values open nothing
		v.Action, v.Reason = policy.Deny, "it could not be counted against a limit"
		return v
	}
	v.Reason = fmt.Sprintf("%s; try again in %s", over.Rule.Rate.AtMost(), roundUp(over.Wait))
	if over.Rule.Rate.Over == policy.Prompt && v.Action == policy.Prompt && v.Rule != nil && v.Rule.OutOfBand {
		return v // of a rule that says who is asked: asking for the limit instead would let the client answer
	}
	v.Rule = over.Rule
	if v.Action = over.Rule.Rate.Over; v.Action == policy.Prompt {
		v.Policy = policy.Prompt
	}
	return v
}

// roundUp is a time in whole units, never too short.
func roundUp(d time.Duration) string {
	unit, name := time.Second, "s"
	switch {
	case d > 2*time.Hour:
		unit, name = time.Hour, "h"
	case d > 2*time.Minute:
		unit, name = time.Minute, "min"
	}
	return fmt.Sprintf("%d %s", max(1, (d+unit-1)/unit), name)
}
