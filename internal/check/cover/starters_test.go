package cover_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/cover"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
)

// TestStartersKillEveryMutant: whoever changes a starter policy in any small way
// hears of it from a fixture beside it, unless it changes no answer.
func TestStartersKillEveryMutant(t *testing.T) {
	slow.Test(t)
	if raceDetector {
		t.Skip("proofs take minutes under the race detector")
	}
	calls := everyCall(t)
	eachStarter(t, func(t *testing.T, name string, p *policy.Policy, src []byte, fixtures []check.Fixture, o cover.Options) {
		m, err := cover.Mutate(p, name, src, fixtures, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range m.Outcomes {
			if s.Equivalent {
				answersAlike(t, p, s, calls)
			}
			if !s.Killed && !s.Equivalent {
				t.Errorf("line %d: no fixture notices %s; this one would: %+v", s.Line, s.Name, s.Fixture)
			}
		}
	})
}

// TestStartersAreCovered: every rule and every condition of a starter policy is
// shown at work by a fixture beside it.
func TestStartersAreCovered(t *testing.T) {
	slow.Test(t)
	eachStarter(t, func(t *testing.T, name string, p *policy.Policy, src []byte, fixtures []check.Fixture, o cover.Options) {
		c, err := cover.Measure(p, name, src, fixtures, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, point := range c.Points {
			if !point.Covered {
				t.Errorf("line %d: never %s: %s", point.Line, point.Way, point.What)
			}
		}
	})
}

func eachStarter(t *testing.T, see func(t *testing.T, name string, p *policy.Policy, src []byte, fixtures []check.Fixture, o cover.Options)) {
	t.Helper()
	files, err := filepath.Glob("../../../fixtures/*/policy.toml")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d starter policies, %v", len(files), err)
	}
	for _, file := range files {
		dir := filepath.Dir(file)
		if filepath.Base(dir) == "coding-agent" {
			// Each of its rules names every client and speaks of classes of tools, of which
			// proofs know nothing: TestCodingAgentStarter.
			continue
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			o := cover.Options{Policy: policy.Options{Home: "/home/user"}}
			p, err := policy.Parse(file, src, o.Policy)
			if err != nil {
				t.Fatal(err)
			}
			paths, err := check.FindFixtures(dir)
			if err != nil {
				t.Fatal(err)
			}
			var fixtures []check.Fixture
			for _, path := range paths {
				fx, err := check.ReadFixture(path)
				if err != nil {
					t.Fatal(err)
				}
				fixtures = append(fixtures, fx)
			}
			see(t, filepath.Base(dir), p, src, fixtures, o)
		})
	}
}

// everyCall lists what the fixtures of all starters ask.
func everyCall(t *testing.T) (calls []policy.Call) {
	t.Helper()
	eachStarter(t, func(_ *testing.T, _ string, _ *policy.Policy, _ []byte, fixtures []check.Fixture, _ cover.Options) {
		for _, fx := range fixtures {
			if found, err := fx.ReadCalls(""); err == nil {
				calls = append(calls, found...)
			}
		}
	})
	return calls
}

// answersAlike fails when what is said to change nothing changes an answer.
func answersAlike(t *testing.T, p *policy.Policy, o cover.Outcome, calls []policy.Call) {
	t.Helper()
	mutant := o.Policy()
	for i := range calls {
		if a, b := p.Decide(&calls[i]).Action, mutant.Decide(&calls[i]).Action; a != b {
			t.Errorf("%s is said to change nothing, and changes %s to %s for %+v", o.Name, a, b, calls[i])
		}
	}
}
