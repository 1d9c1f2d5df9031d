//go:build !race

package inspect

import (
	"strings"
	"testing"
)

// A text without findings allocates nothing. The race detector makes sync.Pool forget at random,
// so that this holds only without it.
func TestNothingFoundAllocatesNothing(t *testing.T) {
	text := strings.Repeat("A line of prose with 12 numbers, a [link](https://example.org/) and <b class=x>.\n", 800)
	SearchText(text, Kinds{})
	if n := testing.AllocsPerRun(20, func() { SearchText(text, Kinds{}) }); n > 0.9 {
		t.Errorf("%v allocations", n)
	}
}
