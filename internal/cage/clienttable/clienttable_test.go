package clienttable

import (
	"slices"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	got, err := Read([]string{On, "allowWrite=x/y", "allowWrite=/a=b", "denyRead=~/k", "denyWrite=./.git/", "allowedDomains=A.org:8443", "deniedDomains=*.b.org", "deniedDomains=*"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ got, want []string }{
		{got.Write, []string{"~/.npm", "${cwd}/x/y", "/a=b"}},
		{got.DenyRead, []string{"~/k"}},
		{got.DenyWrite, []string{"${cwd}/.git"}},
		{got.Hosts, []string{"registry.npmjs.org", "A.org:8443"}},
		{got.DenyHosts, []string{"*.b.org"}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	if !got.DenyAllHosts {
		t.Error("deniedDomains=* shuts nothing")
	}
	for _, words := range [][]string{{}, {"allowWrite=/x"}, {On, On}, {On, "allowWrite=${x}"}, {On, "allowWrite=~"}, {On, "allowWrite=/"}, {On, "allowedDomains=*"}, {On, "denyRead=/a/*"}, {On, "denyRead=~/[ab].pem"}, {On, "denyWrite=/a]"}, {On, "allowWrite=a/../.."}} {
		if table, err := Read(words); err == nil {
			t.Errorf("%q: %+v", words, table)
		}
	}
}

// FuzzRule: a rule that is accepted adds one thing to one list, and a place is one that no reader takes
// for another.
func FuzzRule(f *testing.F) {
	for _, seed := range []string{"allowWrite=/a", "denyRead=~/b", "denyWrite=.", "allowedDomains=a.org", "deniedDomains=*", "allowWrite=..", "allowWrite=a\x00b", "x=y", "=", "allowWrite=~root/x", "allowWrite=${cwd}/x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, rule string) {
		table, err := Read([]string{On, rule})
		if err != nil {
			return
		}
		if CheckRule(rule) != nil {
			t.Fatalf("%q is read, and is not carried", rule)
		}
		places := slices.Concat(table.Write[1:], table.DenyRead, table.DenyWrite)
		added := len(places) + len(table.Hosts) - 1 + len(table.DenyHosts)
		if table.DenyAllHosts {
			added++
		}
		if added != 1 {
			t.Fatalf("%q added %d: %+v", rule, added, table)
		}
		for _, place := range places {
			begins := strings.HasPrefix(place, "/") || place == "~" || strings.HasPrefix(place, "~/") || place == "${cwd}" || strings.HasPrefix(place, "${cwd}/")
			if !begins || slices.Contains(strings.Split(place, "/"), "..") || strings.ContainsAny(place, "*?[\x00") || strings.Count(place, "${") > 1 {
				t.Fatalf("%q became %q", rule, place)
			}
		}
	})
}
