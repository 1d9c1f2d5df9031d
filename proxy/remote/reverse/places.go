package reverse

import (
	"hash/maphash"
	"slices"
	"sync"
)

// places are the events that a client may take its streams up behind: those that it
// was sent. The id of an event names a stream at the server (MCP 2025-11-25
// basic/transports), and some servers do not ask whose.
type places struct {
	mu   sync.Mutex
	last []uint64 // hashes, so that a long id takes no room
	next int
}

// maxPlaces is how many of the last events of a session are remembered.
const maxPlaces = 4096

var placeSeed = maphash.MakeSeed()

func (p *places) add(id string) {
	if id == "" {
		return
	}
	h := maphash.String(placeSeed, id)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.last) < maxPlaces {
		p.last = append(p.last, h)
		return
	}
	p.last[p.next] = h
	p.next = (p.next + 1) % maxPlaces
}

func (p *places) has(id string) bool {
	h := maphash.String(placeSeed, id)
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Contains(p.last, h)
}
