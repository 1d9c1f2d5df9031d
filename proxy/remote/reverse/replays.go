package reverse

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"sync"

	"github.com/clawai/clawai/proxy/remote"
	"github.com/clawai/clawai/proxy/remote/sse"
)

// replays remembers the last events of a session that crossed with an id. A client
// whose stream broke takes it up behind the last event that reached it, and the
// server says again what came after (MCP 2025-11-25 basic/transports): for the
// pump that would be a second answer, or a request whose id is in flight.
type replays struct {
	mu   sync.Mutex
	last [256][sha256.Size]byte
	next int
}

func mark(e *sse.Event) [sha256.Size]byte {
	return sha256.Sum256(append([]byte(e.ID+"\x00"), remote.OneLine(bytes.Clone(e.Data))...))
}

func (r *replays) add(e *sse.Event) {
	if r == nil || e.ID == "" {
		return
	}
	r.mu.Lock()
	r.last[r.next] = mark(e)
	r.next = (r.next + 1) % len(r.last)
	r.mu.Unlock()
}

// has reports an event that is, to the last byte, one that crossed before.
func (r *replays) has(e *sse.Event) bool {
	if r == nil || e.ID == "" {
		return false
	}
	m := mark(e)
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.last[:], m)
}
