package cover

import (
	"fmt"
	"slices"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
)

// Options are the settings for judging a policy.
type Options struct {
	Policy policy.Options
	Server string // the server's name for fixtures that name no server
	// Work bounds the search for a fixture that would notice a mutant, in units
	// of prove.Options; 0 means at most about one second.
	Work int
}

// testCase is a fixture as the rules see it.
type testCase struct {
	fixture  check.Fixture
	server   string // the server's name if the fixture names no server
	path     string
	on       policy.On
	calls    []policy.Call
	kinds    []string // kinds of findings in the reply
	refused  bool     // the proxy refuses the message before the rules; the answer is always deny
	expected policy.Action
}

// casesOf returns the fixtures that have an expectation and whose judged message is one of on. It
// returns an error if the policy does not meet an expectation: only a suite that passes can be
// measured.
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

// listReadings returns the calls in the form in which the rules judge them. For
// a reply, it returns each call once without findings and once for each kind
// found.
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

// hasSingleName reports whether the rules judge exactly one name.
func (c *testCase) hasSingleName() bool { return len(c.calls) == 1 && len(c.calls[0].Names) == 1 }

// describeMismatch returns the policy's unexpected answer, or "" if the answer is as expected. For
// a reply, the result that the client gets must be as expected, too.
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
