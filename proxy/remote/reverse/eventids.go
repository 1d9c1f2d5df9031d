package reverse

import (
	"hash/maphash"
	"slices"
	"sync"
)

// eventIDs remembers the ids of the events that a client got. A client may resume a stream only
// after one of these events. The reason is that an event id identifies a stream at the server (MCP
// 2025-11-25 basic/transports), and some servers do not check whether the stream belongs to the
// client.
type eventIDs struct {
	mu   sync.Mutex
	last []sentEvent
	next int // index of the oldest event in the field last, when that slice is full
}

// sentEvent is an event that a client got.
type sentEvent struct {
	id    uint64 // hash of the event id, because an id may be long
	scope string // scope of the request whose stream had the event
}

// maxEventIDs is how many events are remembered for a session.
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

// findScope returns the scope of an event that the client got. sent is false for any other event.
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
