package reverse

import (
	"hash/maphash"
	"slices"
	"sync"
)

// eventIDs remembers the ids of the events that a client was sent. A client may resume its streams
// only after one of these: the id of an event identifies a stream at the server (MCP 2025-11-25
// basic/transports), and some servers do not check which client the stream belongs to.
type eventIDs struct {
	mu   sync.Mutex
	last []sentEvent
	next int // index in last of the oldest event, when last is full
}

// sentEvent is an event that a client was sent.
type sentEvent struct {
	id    uint64 // hash of the id, because an id may be long
	scope string // scope of the request in whose stream it was sent
}

// maxEventIDs is the number of events of a session that are remembered.
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

// findScope returns the scope in which an event was sent, and false for an event that was not
// sent.
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
