package gate

import (
	"fmt"
	"time"

	"github.com/clawai/clawai/policy"
)

// judgeLimits counts x against the limits of the rules that allow it or ask about it. It counts
// before a person is asked, so that waiting calls count too. For a call over a limit it sets a deny
// or a prompt.
func (s *Session) judgeLimits(x *Exchange, v *Verdict) bool {
	charges := x.charges
	x.charges = nil
	if len(charges) == 0 {
		return false
	}
	var over Excess
	x.paid, over = s.o.Limits.Charge(time.Now(), x.paid, charges, x.Calls)
	if over.Rule == nil && x.paid != nil {
		return false
	}
	v.Code = CodeLimit
	if over.Rule == nil { // no receipt and no exceeded limit: the call was not counted, so it is denied
		v.Action, v.Reason = policy.Deny, "it could not be counted against a limit"
		v.owner = v.Reason
		if over.Err != nil {
			v.owner += ": " + over.Err.Error()
		}
		return true
	}
	v.Reason = limitText(&over)
	v.owner = v.Reason
	if over.Uncounted {
		v.Rule, v.Action = over.Rule, policy.Deny
		return true
	}
	if over.Rule.Rate.Over == policy.Prompt && v.Action == policy.Prompt && v.Rule != nil && v.Rule.OutOfBand {
		return true // the out-of-band prompt of the rule stays: if the prompt of the limit replaced it, the client itself could answer
	}
	v.Rule = over.Rule
	if v.Action = over.Rule.Rate.Over; v.Action == policy.Prompt {
		v.Policy = policy.Prompt
	}
	return true
}

// limitText returns a text for the agent about an exceeded limit. The text also tells how the call
// could succeed.
func limitText(over *Excess) string {
	rate := &over.Rule.Rate
	switch {
	case over.Uncounted:
		return fmt.Sprintf("%s; %s is not a plain decimal number from 0 up, such as 12.50", rate.AtMost(), rate.Sum)
	case over.Wait <= 0:
		return rate.AtMost() + "; this call alone is more"
	}
	return fmt.Sprintf("%s; try again in %s", rate.AtMost(), roundUp(over.Wait))
}

// roundUp returns a duration in whole units, rounded up.
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
