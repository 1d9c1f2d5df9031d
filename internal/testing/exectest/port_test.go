package exectest_test

import (
	"net"
	"strconv"
	"testing"

	"github.com/clawai/clawai/internal/testing/exectest"
)

// TestReservePort: each port can be listened at, no two tests have the same one, and no system gives one of them to a
// program that asks for any port.
func TestReservePort(t *testing.T) {
	seen := map[string]bool{}
	for range 200 {
		port := exectest.ReservePort(t)
		number, err := strconv.Atoi(port)
		if err != nil || number >= 32768 || seen[port] {
			t.Fatalf("port %s: %v, given before: %v", port, err, seen[port])
		}
		seen[port] = true
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close()
	}
}
