package reverse

import (
	"context"
	"crypto/sha256"
	"slices"
	"sync"

	"github.com/clawai/clawai/internal/wire/sse"
)

// replays remembers the last events of one session that had an id and were forwarded. When a client
// resumes a broken stream, the server sends again all events after the last one that the client got
// (MCP 2025-11-25 basic/transports). The proxy session must not get such an event, because it would
// see a second answer or a request with an id in use.
type replays struct {
	mu   sync.Mutex
	last [256][sha256.Size]byte
	next int
	// events that the gate is judging now; a channel is closed when its event was forwarded or
	// refused
	inProgress map[[sha256.Size]byte]chan struct{}
}

// eventHash returns the hash of the id and the data of an event.
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

// releaseWaiters wakes the goroutines that wait for an event.
func (r *replays) releaseWaiters(m [sha256.Size]byte) {
	if done := r.inProgress[m]; done != nil {
		delete(r.inProgress, m)
		close(done)
	}
}

// claimEvent claims an event until the function done is called. On a resumed stream, the result
// replayed is true if the same event was forwarded before. If the gate is judging the same event on
// another stream, which the client has given up, claimEvent waits for the result. Otherwise the
// gate would refuse the event as a second answer. When ctx ends, replayed is true, because the
// client does not read any more.
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
		return func() {}, false // another goroutine has claimed the event and releases it
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
