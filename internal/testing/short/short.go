// Package short keeps `go test -short ./...` quick enough for every save.
package short

import "testing"

// Skip leaves a test out of it: one that takes more than a moment because it searches,
// waits for real time, or starts many processes.
func Skip(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short")
	}
}
