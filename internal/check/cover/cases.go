package cover

import (
	"fmt"
	"slices"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
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
	fixture  check.Fixture
	server   string // of a fixture that names none
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
		if fx.Expected == nil || !slices.Contains(on, fx.JudgedMessage()) {
			continue
		}
		c := testCase{fixture: fx, server: o.Server, path: fx.Path, on: fx.JudgedMessage(), expected: *fx.Expected}
		var err error
		if c.on == policy.OnCall {
			c.calls, err = fx.ReadCalls(o.Server)
			fx.ScreenCalls(p, c.calls)
		} else {
			c.calls, c.kinds, err = fx.AnsweredCalls(p, o.Server)
		}
		c.refused = err != nil
		if wrong := c.describeMismatch(p); wrong != "" {
			return nil, fmt.Errorf("%s: the policy gives %s; fix that first (clawai policy test)", c.path, wrong)
		}
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf(`no fixture expects anything; add "expected" to them`)
	}
	return cases, nil
}

// listReadings gives the calls as the rules are asked about them one by one: of what came back,
// each with one kind that was found, and as a whole.
func (c *testCase) listReadings() []policy.Call {
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

// hasSingleName says that the rules are asked about one name.
func (c *testCase) hasSingleName() bool { return len(c.calls) == 1 && len(c.calls[0].Names) == 1 }

// describeMismatch says what the policy answers that is not expected; "" when it answers as expected. What came
// back is carried out as in policy test: what the client gets of it counts, too.
func (c *testCase) describeMismatch(p *policy.Policy) string {
	got := policy.Allow
	switch {
	case c.on != policy.OnCall:
		r := check.JudgeFixture(p, c.fixture, c.server)
		if r.IsMismatch() {
			return fmt.Sprintf("%s, %s", r.Action, r.DescribeMismatch())
		}
		return ""
	case c.refused:
		got = policy.Deny
	case len(c.calls) > 0:
		got = p.DecideAll(c.calls).Action
	}
	if got != c.expected {
		return fmt.Sprintf("%s and %s is expected", got, c.expected)
	}
	return ""
}
