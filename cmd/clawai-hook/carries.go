package main

import (
	"errors"
	"slices"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp/reply"
	"github.com/clawai/clawai/internal/session/carried"
	"github.com/clawai/clawai/policy"
)

// detectors is the gate's inspector in this program. It looks into the arguments of a call, the
// only content that a hook gets.
type detectors struct{ gate.None }

// coversPolicy reports whether the detectors find everything that the rules about calls need. They
// cannot check a call against a schema: only clawai knows the servers' schemas.
func coversPolicy(p gate.Policy) bool {
	kinds, _ := p.Screens(policy.OnCall)
	return !slices.Contains(kinds, reply.Schema)
}

var errNoDifference = errors.New("no rule about this call asks what it carries")

// Carries looks into the arguments of a call. When this cannot change the decision, it does not
// look, since looking costs as much as the rest of the call, and returns an error instead.
func (detectors) Carries(c *policy.Call, p gate.Policy) ([]gate.Found, error) {
	if !affectsDecision(c, p) {
		return nil, errNoDifference
	}
	kinds, _ := p.Screens(policy.OnCall)
	wanted, err := carried.WantedKinds(kinds, p)
	switch {
	case err != nil:
		return nil, err
	case wanted.Schema:
		return nil, errors.New("schemas are not known here")
	}
	all, err := carried.FindCarried(c, wanted)
	return carried.SumFindings(all), err
}

// affectsDecision reports whether the content of a call may change its decision: whether the
// rules decide differently for no content and for any content.
func affectsDecision(c *policy.Call, p gate.Policy) bool {
	nothing, anything := *c, *c
	nothing.Screened, nothing.Finds, anything.Screened, anything.Finds = true, nil, false, nil
	a, b := p.DecideAll([]policy.Call{nothing}), p.DecideAll([]policy.Call{anything})
	return a.Action != b.Action || a.Rule != b.Rule
}
