// Package slow marks slow tests. `go test -short ./...` skips them, so that a short run is fast
// enough for every save.
package slow

import (
	"flag"
	"runtime"
	"strconv"
	"testing"
)

// Test marks t as slow. With -short it skips t. Slow tests search, wait for real time, or start
// many processes.
func Test(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short")
	}
}

// Waiting allows three parallel tests for each processor, if -parallel is not set. A package calls
// it before its tests run. Its tests mostly wait for other processes and terminals.
func Waiting() {
	flag.Parse()
	if parallel := flag.Lookup("test.parallel"); parallel.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		if err := parallel.Value.Set(strconv.Itoa(3 * runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
}
