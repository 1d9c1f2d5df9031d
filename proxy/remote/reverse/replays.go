package reverse

import (
	"context"
	"crypto/sha256"
	"slices"
	"sync"

	"github.com/clawai/clawai/internal/wire/sse"
)

// replays remembers the last events with an id that were forwarded in a session. A client whose
// stream broke resumes it after the last event that it got, and the server sends the later events
// again (MCP 2025-11-25 basic/transports). For the proxy session each would be a second answer, or
// a request whose id is in use.
type replays struct {
	mu   sync.Mutex
	last [256][sha256.Size]byte
	next int
	// events that are at the gate now; the channel is closed when the event was forwarded or
	// refused
	inProgress map[[sha256.Size]byte]chan struct{}
}

// eventHash returns the hash of an event whose data is one line.
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

// releaseWaiters releases the goroutines that wait for an event.
func (r *replays) releaseWaiters(m [sha256.Size]byte) {
	if done := r.inProgress[m]; done != nil {
		delete(r.inProgress, m)
		close(done)
	}
}

// claimEvent claims an event until done is called. On a resumed stream, replayed is true if an
// identical event was forwarded before. If the same event is at the gate on another stream, which
// the client has given up, claimEvent waits for the result there, because a second answer would be
// refused. When ctx ends nobody reads any more, and replayed is true.
func (r *replays) claimEvent(ctx context.Context, e *sse.Event, resumes bool) (done func(), replayed bool) {
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
			replayed = true
		}
		r.mu.Lock()
		if replayed {
			return func() {}, true
		}
	}
	if r.inProgress[m] != nil {
		return func() {}, false // the goroutine that claimed the event releases it
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
