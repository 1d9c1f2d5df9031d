package sql

import (
	"slices"
	"strings"
	"testing"
)

// Every name of every list is found in it, and nothing else is.
func TestLists(t *testing.T) {
	for _, l := range []*lists{&postgresFunctions, &mysqlFunctions, &sqliteFunctions, &sqliteTables, &sqlserverFunctions} {
		seen := map[string]class{}
		for c := reads; c <= acts; c++ {
			names := strings.Fields(l[c])
			if !slices.IsSorted(names) {
				t.Errorf("%.20q… is not sorted", l[c])
			}
			for _, name := range names {
				seen[name] = c
			}
		}
		for name, c := range seen {
			for _, near := range []string{name, name + "a", name[1:], name[:len(name)-1], name + " ", " " + name, name + "\n", name + " " + name, ""} {
				if got, want := l.classOf(near), seen[near]; got != want {
					t.Errorf("%q is %d, want %d", near, got, want)
				}
			}
			if c == unknown {
				t.Errorf("%q has no class", name)
			}
		}
		if len(seen) == 0 {
			t.Error("an empty list")
		}
	}
}
