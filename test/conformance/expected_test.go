//go:build conformance

package conformance

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// expectation is a check that comes out worse than in the direct run, and why
// that is right, or not clawai's.
type expectation struct {
	Role     string   // server or client
	Forms    []string // empty: any
	Runs     string   // a part of the run's name; empty: any
	Scenario string
	Checks   []string // empty: every check of the scenario
	Reason   string

	used bool
}

// expectations are those of expected.toml. A check that is timed counts as worse
// only when it is so again, alone.
type expectations struct{ Worse, Timed []*expectation }

var readExpected = sync.OnceValues(func() (all expectations, err error) {
	src, err := os.ReadFile("expected.toml")
	if err != nil {
		return all, err
	}
	if err := toml.Unmarshal(src, &all); err != nil {
		return all, err
	}
	for _, e := range slices.Concat(all.Worse, all.Timed) {
		if e.Reason == "" || e.Scenario == "" || e.Role == "" {
			return all, fmt.Errorf("an entry without role, scenario or reason: %+v", e)
		}
	}
	return all, nil
})

func expected(t *testing.T) expectations {
	t.Helper()
	all, err := readExpected()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// place is what was run: a role of the suite's, a form of the proxy, a run.
type place struct {
	role, form string
	run
}

func (e *expectation) covers(at place, c check) bool {
	return e.Role == at.role && (len(e.Forms) == 0 || slices.Contains(e.Forms, at.form)) && strings.Contains(at.String(), e.Runs) &&
		e.Scenario == c.scenario && (len(e.Checks) == 0 || slices.Contains(e.Checks, c.id))
}

// repeats is how often a timed check is tried again.
const repeats = 3

// hold fails the test for every check that is worse than in the other run, and not
// expected to be. again runs one scenario anew, with nothing beside it.
func (at place) hold(t *testing.T, than string, other, got results, all expectations, again func(scenario string) results) {
	t.Helper()
	bad, good := worse(other, got)
	t.Logf("%-7s %-35s %s %s, through clawai %s; %d worse, %d better", at.form, at.run, than, other, got, len(bad), len(good))
	for _, c := range at.unexpected(bad, all, func(c check) (still bool) {
		now := again(c.scenario)[c]
		t.Logf("%s, %s: %v %s, %v through clawai; alone %v", c.scenario, c.id, other[c], than, got[c], now)
		return isWorse(other[c], now)
	}) {
		t.Errorf("%s, %s: %v %s, %v through clawai", c.scenario, c.id, other[c], than, got[c])
	}
}

// unexpected are those of bad that nothing allows for. One that measures time is tried
// again: a machine that is busy is late.
func (at place) unexpected(bad []check, all expectations, again func(c check) (still bool)) (left []check) {
	find := func(of []*expectation, c check) *expectation {
		if i := slices.IndexFunc(of, func(e *expectation) bool { return e.covers(at, c) }); i >= 0 {
			return of[i]
		}
		return nil
	}
	for _, c := range bad {
		if e := find(all.Worse, c); e != nil {
			e.used = true
			continue
		}
		still := true
		for n := 0; still && n < repeats && find(all.Timed, c) != nil; n++ {
			still = again(c)
		}
		if still {
			left = append(left, c)
		}
	}
	return left
}

// stale are the expectations that nothing has needed.
func stale() (all []string) {
	known, _ := readExpected()
	for _, e := range known.Worse {
		if !e.used {
			all = append(all, fmt.Sprintf("expected.toml: nothing is worse any more: %s %v %s %v", e.Role, e.Forms, e.Scenario, e.Checks))
		}
	}
	return all
}

// TestATimedCheckIsTriedAgain: lateness that passes is not clawai's, lateness that
// stays is, and what measures no time is not tried again.
func TestATimedCheckIsTriedAgain(t *testing.T) {
	timed := &expectation{Role: "client", Scenario: "slow", Checks: []string{"clock"}, Reason: "it measures time"}
	clock, other := check{"slow", "clock"}, check{"slow", "order"}
	for name, tc := range map[string]struct {
		bad  check
		late int // how often it is worse again
		runs int
		left bool
	}{
		"on time the first time": {clock, 0, 1, false},
		"on time the last time":  {clock, repeats - 1, repeats, false},
		"late each time":         {clock, repeats, repeats, true},
		"not a matter of time":   {other, 0, 0, true},
	} {
		runs := 0
		left := place{"client", "reverse", run{"next", ""}}.unexpected([]check{tc.bad}, expectations{Timed: []*expectation{timed}}, func(check) bool {
			runs++
			return runs <= tc.late
		})
		if runs != tc.runs || len(left) > 0 != tc.left {
			t.Errorf("%s: tried %d times again, left %v", name, runs, left)
		}
	}
}
