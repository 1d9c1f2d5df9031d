package exectest

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// The ports from which ReservePort chooses. A system gives none of them to a program that asks for
// any port: Linux gives 32768 and above, other systems give 49152 and above.
const firstPort, portCount = 20000, 12000

// ReservePort returns a TCP port for a program that must be told its port. A port that a test got
// from the system and closed again is not enough: before the program listens, the system may give
// that port to another program, also for a connection. Until t ends, no other test that calls
// ReservePort gets the port.
func ReservePort(t testing.TB) string {
	t.Helper()
	for range 1000 {
		port := strconv.Itoa(firstPort + rand.IntN(portCount))                    //nolint:gosec // the port is no secret
		held, err := net.ListenPacket("udp", net.JoinHostPort("127.0.0.1", port)) // the UDP port of the same number tells other tests that this one is taken
		if err != nil {
			continue
		}
		if isFree(port) {
			t.Cleanup(func() { _ = held.Close() })
			return port
		}
		_ = held.Close()
	}
	t.Fatal("no port is free: end programs that listen at ports below 32768")
	return ""
}

// isFree tries the port at all addresses of the machine.
func isFree(port string) bool {
	l, err := net.Listen("tcp", net.JoinHostPort("", port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}
