package servers

import (
	"slices"
	"strings"
	"testing"

	known "github.com/clawai/clawai/internal/state/servers"
)

// A row of the catalogue opens something in a sandbox only if its server is run in that sandbox at night
// (TestCagedServers), with those variables, and there are at least twenty-five such rows.
func TestCagesOfTheCatalogue(t *testing.T) {
	all, err := known.LoadCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for i := range all {
		row := &all[i]
		if row.Cage == nil {
			continue
		}
		count++
		at := slices.IndexFunc(servers, func(s server) bool { return slices.Contains(row.NPM, s.name) })
		if at < 0 {
			t.Errorf("%s has a sandbox, and is not in the list of servers that are run", row.ID)
			continue
		}
		if !known.IsExactVersion(row.Cage.Tried) {
			t.Errorf("%s: %q is not the version that has run", row.ID, row.Cage.Tried)
		}
		for _, name := range row.Cage.Env {
			if !slices.ContainsFunc(servers[at].env, func(v string) bool { return strings.HasPrefix(v, name+"=") }) {
				t.Errorf("%s: its sandbox has the variable %s, without which it is run", row.ID, name)
			}
		}
	}
	if count < 25 {
		t.Errorf("%d rows have a sandbox", count)
	}
}
