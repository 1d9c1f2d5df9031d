package cover

import (
	"errors"
	"fmt"
	"slices"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
)

// Options are the settings for judging a policy.
type Options struct {
	Policy policy.Options
	Server string // name of the server for fixtures without one
	// Work limits the search for a fixture that notices a mutant, in the unit of prove.Options. 0
	// means at most about one second.
	Work int
	// If Done is closed, the measurement ends: Measure returns ErrStopped, or proposes no further fixtures. If Done
	// is nil, nothing ends the measurement early.
	Done <-chan struct{}
}

// ErrStopped is the error of a measurement that Options.Done has ended.
var ErrStopped = errors.New("the measurement was stopped before its end")

func (o *Options) isDone() bool {
	select {
	case <-o.Done:
		return true
	default:
		return false
	}
}

// testCase is a fixture, read as the rules see it.
type testCase struct {
	fixture  check.Fixture
	server   string // name of the server if the fixture has none
	path     string
	on       policy.On
	calls    []policy.Call
	kinds    []string // kinds of findings in the reply of the fixture
	refused  bool     // the proxy refuses the message before the rules, so the answer is always deny
	expected policy.Action
	rule     int // index of the rule that decides the calls; -1 if no rule does, or the fixture is not about calls
}

// casesOf returns the fixtures that expect an answer and whose judged message is of one of the kinds in the
// parameter on. It returns an error if the policy does not give an expected answer, because only a suite that
// passes can be measured. It also returns an error if there is no such fixture.
func casesOf(p *policy.Policy, fixtures []check.Fixture, o Options, on ...policy.On) ([]testCase, error) {
	var cases []testCase
	for _, fx := range fixtures {
		if o.isDone() {
			return nil, ErrStopped
		}
		if fx.Expected == nil || !slices.Contains(on, fx.JudgedMessage()) {
			continue
		}
		c := testCase{fixture: fx, server: o.Server, path: fx.Path, on: fx.JudgedMessage(), expected: *fx.Expected, rule: -1}
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
		if c.on == policy.OnCall && !c.refused {
			if d := p.DecideAll(c.calls); d.Rule != nil {
				c.rule = d.Rule.Index
			}
		}
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf(`no fixture expects anything; add "expected" to them`)
	}
	return cases, nil
}

// orderCases returns the cases in the order in which they are tried against mutants of a rule. The
// cases that this rule decides come first, because they notice most of its mutants.
func orderCases(cases []testCase, rule int) []*testCase {
	ordered := make([]*testCase, 0, len(cases))
	for i := range cases {
		if cases[i].rule == rule {
			ordered = append(ordered, &cases[i])
		}
	}
	for i := range cases {
		if cases[i].rule != rule {
			ordered = append(ordered, &cases[i])
		}
	}
	return ordered
}

// listReadings returns the calls as the rules judge them. If the fixture is about a reply, a list entry or an
// upload, the result has each call once without findings, and once for each kind of finding.
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

// describeMismatch tells how the policy's answer differs from the expected answer; "" if it does
// not. For a reply, the result for the client must also be as expected.
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
