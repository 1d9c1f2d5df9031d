package reverse

import (
	"context"
	"crypto/sha256"
	"slices"
	"sync"

	"github.com/clawai/clawai/internal/wire/sse"
)

// replays remembers the last events of a session that crossed with an id. A client
// whose stream broke takes it up behind the last event that reached it, and the
// server says again what came after (MCP 2025-11-25 basic/transports): for the
// pump that would be a second answer, or a request whose id is in flight.
type replays struct {
	mu   sync.Mutex
	last [256][sha256.Size]byte
	next int
	// on their way across, each until it has crossed or turned out not to
	inProgress map[[sha256.Size]byte]chan struct{}
}

// eventHash is of an event whose data is one line.
func eventHash(e *sse.Event) [sha256.Size]byte {
	return sha256.Sum256(append([]byte(e.ID+"\x00"), e.Data...))
}

func (r *replays) addEvent(e *sse.Event) {
	if r == nil || e.ID == "" {
		return
	}
	m := eventHash(e)
	r.mu.Lock()
	r.last[r.next] = m
	r.next = (r.next + 1) % len(r.last)
	r.releaseWaiters(m)
	r.mu.Unlock()
}

// releaseWaiters lets those go on who wait for an event.
func (r *replays) releaseWaiters(m [sha256.Size]byte) {
	if done := r.inProgress[m]; done != nil {
		delete(r.inProgress, m)
		close(done)
	}
}

// claimEvent takes an event to carry it across, until done is called. A stream that was
// taken up may bring one that is, to the last byte, one that crossed before; then
// crossed is true. It waits for one that a stream which the client has given up is
// just carrying: to the pump its answer is taken then, and whether it crosses is not
// known yet. Nobody reads after ctx.
func (r *replays) claimEvent(ctx context.Context, e *sse.Event, resumes bool) (done func(), crossed bool) {
	if r == nil || e.ID == "" {
		return func() {}, false
	}
	m := eventHash(e)
	r.mu.Lock()
	defer r.mu.Unlock()
	for resumes {
		if slices.Contains(r.last[:], m) {
			return func() {}, true
		}
		inProgress := r.inProgress[m]
		if inProgress == nil {
			break
		}
		r.mu.Unlock()
		select {
		case <-inProgress:
		case <-ctx.Done():
			crossed = true
		}
		r.mu.Lock()
		if crossed {
			return func() {}, true
		}
	}
	if r.inProgress[m] != nil {
		return func() {}, false // whoever began will end it
	}
	if r.inProgress == nil {
		r.inProgress = make(map[[sha256.Size]byte]chan struct{})
	}
	r.inProgress[m] = make(chan struct{})
	return func() {
		r.mu.Lock()
		r.releaseWaiters(m)
		r.mu.Unlock()
	}, false
}
