// Package slow marks the tests that `go test -short ./...` leaves out, so that it is quick
// enough for every save.
package slow

import (
	"flag"
	"runtime"
	"strconv"
	"testing"
)

// Test says that t takes more than a moment: it searches, waits for real time, or starts
// many processes.
func Test(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short")
	}
}

// Waiting says, before a package's tests are run, that they wait for other processes and for
// terminals most of the time: three of them run on a processor, unless -parallel says otherwise.
func Waiting() {
	flag.Parse()
	if parallel := flag.Lookup("test.parallel"); parallel.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		if err := parallel.Value.Set(strconv.Itoa(3 * runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
}
