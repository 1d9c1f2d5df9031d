// Package slow marks slow tests. `go test -short ./...` skips these tests, so it is fast enough to
// run after every small change.
package slow

import (
	"flag"
	"os"
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

// Waiting sets the number of parallel tests to three for each processor, unless -parallel is set.
// It is for packages whose tests mostly wait for other processes or terminals. Such a package calls
// it before its tests run.
func Waiting() {
	flag.Parse()
	if parallel := flag.Lookup("test.parallel"); parallel.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		if err := parallel.Value.Set(strconv.Itoa(3 * runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
}

// Rounds returns how many rounds a random search or a long campaign makes: day, or night if
// CLAWAI_SOAK=full. The night runs every package that calls Rounds.
func Rounds(day, night int) int {
	if os.Getenv("CLAWAI_SOAK") == "full" {
		return night
	}
	return day
}

// Checks sets the number of cases that rapid tries in t, as Rounds says it. It does nothing if
// -rapid.checks is set. It is not for parallel tests, because rapid has one number for all.
func Checks(t testing.TB, day, night int) {
	t.Helper()
	checks := flag.Lookup("rapid.checks")
	if usual := checks.Value.String(); usual == checks.DefValue {
		if err := checks.Value.Set(strconv.Itoa(Rounds(day, night))); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = checks.Value.Set(usual) }) // it was the value before
	}
}
