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
	last []uint64 // hashes, so that a long id takes no room
	next int
}

// maxEventIDs is how many of the last events of a session are remembered.
const maxEventIDs = 4096

var eventIDSeed = maphash.MakeSeed()

func (e *eventIDs) add(id string) {
	if id == "" {
		return
	}
	h := maphash.String(eventIDSeed, id)
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.last) < maxEventIDs {
		e.last = append(e.last, h)
		return
	}
	e.last[e.next] = h
	e.next = (e.next + 1) % maxEventIDs
}

func (e *eventIDs) has(id string) bool {
	h := maphash.String(eventIDSeed, id)
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Contains(e.last, h)
}
