package model

import "testing"

// What stands in place of results takes no more room than is allowed for it, and the latest stays.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	m := newMemory()
	heavy := make([]byte, 1<<20)
	for i := range 1000 {
		m.keepResult(digest{byte(i), byte(i >> 8)}, heavy)
		_, known, release, err := m.claimResult(t.Context(), digest{byte(i - 1), byte((i - 1) >> 8)})
		if release(); err != nil || known != (i >= 1) {
			t.Fatalf("result %d of %d is known: %v, %v", i-1, i, known, err)
		}
		if n := len(m.results.now) + len(m.results.before); n<<20 > 2*(maxWeight+1<<20) {
			t.Fatalf("%d results of 1 MiB are kept", n)
		}
	}
	for i := range 3 * maxParts {
		m.keepResult(digest{byte(i), byte(i >> 8), byte(i >> 16), 1}, nil)
	}
	if n := len(m.results.now) + len(m.results.before); n > 2*maxParts {
		t.Errorf("%d parts are kept", n)
	}
}
