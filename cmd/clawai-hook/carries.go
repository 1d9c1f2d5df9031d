package main

import (
	"errors"
	"slices"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp/reply"
	"github.com/clawai/clawai/internal/session/carried"
	"github.com/clawai/clawai/policy"
)

// detectors is the gate's inspector in this program. It searches only the arguments of a call,
// because a hook gets no other content.
type detectors struct{ gate.None }

// coversPolicy reports whether the detectors can find every kind of finding that the rules about
// calls look for. The detectors cannot compare a call with a schema, because only clawai knows the
// servers' schemas.
func coversPolicy(p gate.Policy) bool {
	kinds, _ := p.Screens(policy.OnCall)
	return !slices.Contains(kinds, reply.Schema)
}

var errNoDifference = errors.New("no rule about this call asks what it carries")

// Carries returns the findings in the arguments of a call. If findings cannot change the decision,
// Carries returns an error and does not search, because a search takes as much time as the rest of
// the judgement.
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

// affectsDecision reports whether findings in a call may change its decision. It compares the
// decision for no findings with the decision for unknown findings.
func affectsDecision(c *policy.Call, p gate.Policy) bool {
	nothing, anything := *c, *c
	nothing.Screened, nothing.Finds, anything.Screened, anything.Finds = true, nil, false, nil
	a, b := p.DecideAll([]policy.Call{nothing}), p.DecideAll([]policy.Call{anything})
	return a.Action != b.Action || a.Rule != b.Rule
}
