package cover

import (
	"fmt"
	"slices"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/check"
)

// Options are what a policy is judged with.
type Options struct {
	Policy policy.Options
	Server string // of fixtures that name none
	// Work bounds the search for a fixture that would notice a mutant, in the units
	// of prove.Options; 0 is for about a second at the most.
	Work int
}

// testCase is a fixture as the rules see it.
type testCase struct {
	path     string
	on       policy.On
	calls    []policy.Call
	kinds    []string // found in what came back to them
	refused  bool     // before the rules: deny, whatever they say
	expected policy.Action
}

// casesOf reads the fixtures that expect something of calls, or of what comes back. The policy must give what
// they expect: a suite that fails says nothing about its strength.
func casesOf(p *policy.Policy, fixtures []check.Fixture, o Options, on ...policy.On) ([]testCase, error) {
	var cases []testCase
	for _, fx := range fixtures {
		if fx.Expected == nil || !slices.Contains(on, fx.On()) {
			continue
		}
		c := testCase{path: fx.Path, on: fx.On(), expected: *fx.Expected}
		var err error
		if c.on == policy.OnCall {
			c.calls, err = fx.Calls(o.Server)
			fx.Screen(p, c.calls)
		} else {
			c.calls, c.kinds, err = fx.Answered(p, o.Server)
		}
		c.refused = err != nil
		if got := c.judge(p); got != c.expected {
			return nil, fmt.Errorf("%s: the policy gives %s and %s is expected; fix that first (clawai policy test)", c.path, got, c.expected)
		}
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf(`no fixture expects anything; add "expected" to them`)
	}
	return cases, nil
}

// readings are the calls as the rules are asked about them one by one: of what came back,
// each with one kind that was found, and as a whole.
func (c *testCase) readings() []policy.Call {
	if c.on == policy.OnCall {
		return c.calls
	}
	var all []policy.Call
	for _, call := range c.calls {
		call.Screened, call.Finds = true, nil
		all = append(all, call)
		for _, kind := range c.kinds {
			call.Finds = []string{kind}
			all = append(all, call)
		}
	}
	return all
}

// single says that the rules are asked about one name.
func (c *testCase) single() bool { return len(c.calls) == 1 && len(c.calls[0].Names) == 1 }

// judge is what the policy answers, as check.Judge has it.
func (c *testCase) judge(p *policy.Policy) policy.Action {
	switch {
	case c.refused:
		return policy.Deny
	case c.on != policy.OnCall:
		d := p.DecideReply(c.on, c.calls, c.kinds)
		return check.Strictest(&d)
	case len(c.calls) == 0:
		return policy.Allow
	}
	return p.DecideAll(c.calls).Action
}
