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

var readExpected = sync.OnceValues(func() ([]*expectation, error) {
	src, err := os.ReadFile("expected.toml")
	if err != nil {
		return nil, err
	}
	var file struct{ Worse []*expectation }
	if err := toml.Unmarshal(src, &file); err != nil {
		return nil, err
	}
	for _, e := range file.Worse {
		if e.Reason == "" || e.Scenario == "" || e.Role == "" {
			return nil, fmt.Errorf("an entry without role, scenario or reason: %+v", e)
		}
	}
	return file.Worse, nil
})

func expected(t *testing.T) []*expectation {
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

// hold fails the test for every check that is worse than in the other run, and not
// expected to be.
func (at place) hold(t *testing.T, than string, other, got results, all []*expectation) {
	t.Helper()
	bad, good := worse(other, got)
	t.Logf("%-7s %-35s %s %s, through clawai %s; %d worse, %d better", at.form, at.run, than, other, got, len(bad), len(good))
	for _, c := range bad {
		i := slices.IndexFunc(all, func(e *expectation) bool { return e.covers(at, c) })
		if i < 0 {
			t.Errorf("%s, %s: %v %s, %v through clawai", c.scenario, c.id, other[c], than, got[c])
			continue
		}
		all[i].used = true
	}
}

// stale are the expectations that nothing has needed.
func stale() (all []string) {
	expectations, _ := readExpected()
	for _, e := range expectations {
		if !e.used {
			all = append(all, fmt.Sprintf("expected.toml: nothing is worse any more: %s %v %s %v", e.Role, e.Forms, e.Scenario, e.Checks))
		}
	}
	return all
}
