package effort

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/glob"
)

// Only the match of a long text costs, and what it costs is what the glob says.
func TestMatchPays(t *testing.T) {
	g, err := glob.Compile("*a*b")
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("a", shortText) + "b"
	for s, cost := range map[string]int{"ab": 0, long[1:]: 0, long: g.MatchCost(long)} {
		left := Max
		if !left.MatchGlob(g, s) || left != Max-Left(cost) {
			t.Errorf("%d bytes: %d spent, want %d", len(s), Max-left, cost)
		}
	}
}
