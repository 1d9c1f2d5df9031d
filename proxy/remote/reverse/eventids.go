package reverse

import (
	"hash/maphash"
	"slices"
	"sync"
)

// eventIDs are the events that a client may take its streams up behind: those that it
// was sent. The id of an event names a stream at the server (MCP 2025-11-25
// basic/transports), and some servers do not ask whose.
type eventIDs struct {
	mu   sync.Mutex
	last []sentEvent
	next int
}

// sentEvent is an event that a client was sent.
type sentEvent struct {
	id    uint64 // its hash, so that a long id takes no room
	scope string // of the request whose stream it was sent in
}

// maxEventIDs is how many of the last events of a session are remembered.
const maxEventIDs = 4096

var eventIDSeed = maphash.MakeSeed()

func (e *eventIDs) addEvent(id, scope string) {
	if id == "" {
		return
	}
	one := sentEvent{maphash.String(eventIDSeed, id), scope}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.last) < maxEventIDs {
		e.last = append(e.last, one)
		return
	}
	e.last[e.next] = one
	e.next = (e.next + 1) % maxEventIDs
}

// findScope gives the scope in which an event was sent; false for one that was not.
func (e *eventIDs) findScope(id string) (scope string, sent bool) {
	h := maphash.String(eventIDSeed, id)
	e.mu.Lock()
	defer e.mu.Unlock()
	i := slices.IndexFunc(e.last, func(one sentEvent) bool { return one.id == h })
	if i < 0 {
		return "", false
	}
	return e.last[i].scope, true
}
