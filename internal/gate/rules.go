package gate

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/clawai/clawai/policy"
)

// closed is the refusal of everything that comes to a session that is over.
var closed = Verdict{Stage: StageGate, Code: CodeClosed, Reason: "the session is over", unruled: true}

func (s *Session) open(_ *Exchange, v *Verdict) bool {
	if !s.closed.Load() {
		return false
	}
	*v = closed
	return true
}

// governed says that there is something in x for the rules.
func (x *Exchange) governed() bool { return len(x.Calls)+len(x.Work) > 0 }

// ruled is what the rules say of x.
func (s *Session) ruled(x *Exchange, v *Verdict) bool {
	x.Event.Digest = sha256.Sum256(x.Raw)
	d := decided(*s.policy.Load(), x)
	v.decide(&d)
	if x.charges = d.Rates; len(d.Rates) == 0 {
		x.refund()
	}
	return true
}

// noRules is the policy that has none: it denies.
type noRules struct{}

func (noRules) DecideAll([]policy.Call) (d policy.Decision) { return d }
func (noRules) Timed() bool                                 { return false }
func (noRules) Revision() string                            { return "" }

// decided asks the rules. Whether work that was let through
// before may go on is not asked again, only whether it is denied by now.
func decided(p Policy, x *Exchange) (d policy.Decision) {
	if len(x.Work) > 0 {
		if d = p.DecideAll(timed(p, x.Work)); d.Action == policy.Deny {
			return d
		}
		if len(x.Calls) == 0 {
			return policy.Decision{Action: policy.Allow}
		}
	}
	return p.DecideAll(timed(p, x.Calls))
}

// timed are the calls with the time in them, when the rules ask for it. They
// are copies: an Approver may be reading the others.
func timed(p Policy, cs []policy.Call) []policy.Call {
	if !p.Timed() {
		return cs
	}
	cs = slices.Clone(cs)
	now := time.Now()
	for i := range cs {
		cs[i].At = now
	}
	return cs
}

// decide is the verdict of the rules alone; an action that is none of the three
// is a deny.
func (v *Verdict) decide(d *policy.Decision) {
	*v = Verdict{Rule: d.Rule, owner: d.Reason}
	if d.Reading != "" {
		v.owner = fmt.Sprintf("read as %q", d.Reading)
	}
	switch {
	case d.Action == policy.Allow && d.Rule != nil:
		v.Action, v.Code = policy.Allow, CodeAllowedByRule
	case d.Action == policy.Allow:
		v.Action, v.Code = policy.Allow, CodeUngoverned
	case d.Action == policy.Prompt:
		v.Action = policy.Prompt
	case d.Rule != nil:
		v.Code, v.Reason = CodeDeniedByRule, "a rule denies it"
	case d.Reason != "":
		v.Code, v.Reason = CodeMalformed, "no rule may allow it: "+d.Reason
	default:
		v.Code, v.Reason = CodeNoRule, "no rule allows it"
	}
	v.Policy = v.Action
}

// notEnforced is the start of a session that only observes, in words for the
// owner: a record full of allows must not pass for one of a policy at work.
const notEnforced = "OBSERVE ONLY: nothing is enforced in this session; every call passes, whatever the policy says"

// observe lifts the rules' verdict in a session that enforces nothing. What the rules said
// stays beside it (Policy, Rule), and the reason for a denial, which nobody is told, goes
// to the owner.
func observe(v *Verdict) {
	if v.owner == "" {
		v.owner = v.Reason
	}
	limited := v.Stage == StageRate && v.Action == policy.Deny
	v.Stage, v.Reason = StageObserve, ""
	switch {
	case limited: // Policy does not tell: the rules alone said allow or prompt
		v.Action = policy.Allow
	case v.Action != policy.Allow:
		v.Action, v.Code = policy.Allow, CodeNotEnforced
	}
}
