// Package slow marks the tests that `go test -short ./...` skips, so that a
// short run is fast enough for every save.
package slow

import (
	"flag"
	"runtime"
	"strconv"
	"testing"
)

// Test marks t as slow: it searches, waits for real time, or starts many
// processes.
func Test(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short")
	}
}

// Waiting sets, before a package's tests run, three parallel tests per
// processor unless -parallel is set, because these tests mostly wait for other
// processes and terminals.
func Waiting() {
	flag.Parse()
	if parallel := flag.Lookup("test.parallel"); parallel.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		if err := parallel.Value.Set(strconv.Itoa(3 * runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
}
