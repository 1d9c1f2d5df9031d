// Package slow marks the tests that `go test -short ./...` leaves out, so that it is quick
// enough for every save.
package slow

import "testing"

// Test says that t takes more than a moment: it searches, waits for real time, or starts
// many processes.
func Test(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short")
	}
}
