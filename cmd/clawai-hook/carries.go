package main

import (
	"errors"
	"slices"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp/reply"
	"github.com/clawai/clawai/internal/session/carried"
	"github.com/clawai/clawai/policy"
)

// detectors look into the arguments of a call. Nothing else comes to a hook.
type detectors struct{ gate.None }

// coversPolicy reports whether they find all that the rules about calls ask for: what a server's
// schema promises is known to the large program alone.
func coversPolicy(p gate.Policy) bool {
	kinds, _ := p.Screens(policy.OnCall)
	return !slices.Contains(kinds, reply.Schema)
}

var errNoDifference = errors.New("no rule about this call asks what it carries")

// Carries looks into the arguments of a call. Where that makes no difference it does
// not look, which would cost as much as the rest of the call, and leaves open what there is.
func (detectors) Carries(c *policy.Call, p gate.Policy) ([]gate.Found, error) {
	if !affectsDecision(c, p) {
		return nil, errNoDifference
	}
	all, wanted, err := carried.FindCarried(c, p, nil)
	if err == nil && wanted.Schema {
		err = errors.New("schemas are not known here")
	}
	return carried.SumFindings(all), err
}

// affectsDecision reports whether what a call carries may change what the rules say of it: whether
// nothing and anything come to the same.
func affectsDecision(c *policy.Call, p gate.Policy) bool {
	nothing, anything := *c, *c
	nothing.Screened, nothing.Finds, anything.Screened, anything.Finds = true, nil, false, nil
	a, b := p.DecideAll([]policy.Call{nothing}), p.DecideAll([]policy.Call{anything})
	return a.Action != b.Action || a.Rule != b.Rule
}
