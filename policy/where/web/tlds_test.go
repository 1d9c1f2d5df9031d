package web

import (
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/where"
)

// TestTopLevelDomains holds the table to its form: sorted, each domain one that every
// parser takes for a name, and as many in another script as in Punycode.
func TestTopLevelDomains(t *testing.T) {
	if !slices.IsSorted(tlds[:]) {
		t.Error("not sorted")
	}
	scripts := 0
	for _, tld := range tlds {
		switch {
		case strings.HasPrefix(tld, "xn--"):
			scripts++
		case strings.Trim(tld, "abcdefghijklmnopqrstuvwxyz") != "":
			scripts--
		}
		if got := NewPublic(true).JudgeValue(where.Value{Kind: where.String, Text: "https://nic." + tld + "/"}, true); got != where.Yes && tld != "arpa" {
			t.Errorf("%s: %d", tld, got)
		}
	}
	if scripts != 0 {
		t.Errorf("%d more in Punycode than in scripts", scripts)
	}
}
