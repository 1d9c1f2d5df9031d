package gate

import "github.com/clawai/clawai/policy"

// notEnforced is the start of a session that only observes, in words for the
// owner: a record full of allows must not pass for one of a policy at work.
const notEnforced = "OBSERVE ONLY: nothing is enforced in this session; every call passes, whatever the policy says"

// observed is what becomes of the rules' verdict in a session that enforces
// nothing: it passes. What the rules said stays beside it (Policy, Rule), and
// the reason for a denial, which nobody is told, goes to the owner. Only the
// rules are lifted here: a panic, a closed session and a failed record have
// refused before or will refuse after.
func observed(v Verdict, owner string) (Verdict, string) {
	if owner == "" {
		owner = v.Reason
	}
	limited := v.Stage == StageRate && v.Action == policy.Deny
	v.Stage, v.Reason = StageObserve, ""
	switch {
	case limited: // Policy does not tell: the rules alone said allow or prompt
		v.Action = policy.Allow
	case v.Action != policy.Allow:
		v.Action, v.Code = policy.Allow, CodeNotEnforced
	}
	return v, owner
}
