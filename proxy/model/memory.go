package model

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"github.com/clawai/clawai/policy"
)

// memory is what a server keeps of conversations. Each part is bounded: what is forgotten is looked
// at once more.
type memory struct {
	mu      *sync.Mutex // guards the fields below
	calls   recent[string, madeCall]
	results recent[digest, []byte]   // what stands in place of a result; nil: the result itself
	busy    map[digest]chan struct{} // results that a turn judges, each with what is closed at the end
	denied  recent[string, denial]   // by the name that stands in place of the tool's
	noted   recent[string, struct{}]
	joined  recent[string, struct{}]
}

func newMemory() memory {
	return memory{mu: &sync.Mutex{}, busy: map[digest]chan struct{}{}, results: recent[digest, []byte]{most: maxParts, weigh: func(v []byte) int { return len(v) }}}
}

type digest [sha256.Size]byte

// madeCall is a call that a model has asked for.
type madeCall struct {
	calls  []policy.Call
	cover  Cover
	record string // of the decision; "" if there is none
}

// denial is a refused call.
type denial struct {
	id    string // of the call; "" where the service gives none
	name  []byte // the name of the tool, as the reply had it
	words string // for the agent
}

// deniedPrefix begins the names of refused calls. No tool is called so: the rest is chosen when
// the call is refused, after the client has said which tools it has.
const deniedPrefix = "clawai_denied_"

// newDeniedName returns the name for a refused call.
func newDeniedName() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails
	return deniedPrefix + hex.EncodeToString(b[:])
}

// maxRecent is how many entries a part of the memory keeps at least.
const maxRecent = 1 << 12

// maxParts is maxRecent for parts of requests, which each request repeats: a conversation of thousands of turns
// is not judged anew. An entry is small.
const maxParts = 1 << 16

// maxWeight is how many bytes of what stands in place of results half of the memory keeps, but for the last.
const maxWeight = 32 << 20

// recent is a map that forgets the oldest half of its entries.
type recent[K comparable, V any] struct {
	now, before map[K]V
	most        int         // entries of now; 0: maxRecent
	weigh       func(V) int // the bytes of an entry; nil: they do not matter
	weight      int         // of now
}

func (r *recent[K, V]) getEntry(k K) (V, bool) {
	if v, ok := r.now[k]; ok {
		return v, true
	}
	v, ok := r.before[k]
	if ok {
		r.putEntry(k, v) // what is used stays
	}
	return v, ok
}

func (r *recent[K, V]) putEntry(k K, v V) {
	if r.now == nil || len(r.now) >= cmp.Or(r.most, maxRecent) || r.weight > maxWeight {
		r.before, r.now, r.weight = r.now, make(map[K]V), 0
	}
	if r.now[k] = v; r.weigh != nil {
		r.weight += r.weigh(v)
	}
}

// noteOnce reports whether something is noted for the first time.
func (m *memory) noteOnce(what string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.noted.getEntry(what); known {
		return false
	}
	m.noted.putEntry(what, struct{}{})
	return true
}

// joinOnce joins a session that was not joined before.
func (m *memory) joinOnce(id string, join func(string) error) error {
	if id == "" || join == nil {
		return nil
	}
	m.mu.Lock()
	_, known := m.joined.getEntry(id)
	m.mu.Unlock()
	if known {
		return nil
	}
	if err := join(id); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.joined.putEntry(id, struct{}{})
	return nil
}

func (m *memory) findCall(id string) (madeCall, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls.getEntry(id)
}

// maxKept is how many bytes of arguments of one call are kept. A longer call is read again from the
// request that holds its result.
const maxKept = 4 << 10

func (m *memory) keepCall(id string, c madeCall) {
	if id == "" || len(id) > maxKept || len(c.calls) == 0 || len(c.calls)*len(c.calls[0].Args) > maxKept {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls.putEntry(id, c)
}

// hasDenials reports whether a request may hold a refused call.
func (m *memory) hasDenials() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.denied.now)+len(m.denied.before) > 0
}

func (m *memory) findDenial(name string) (denial, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.denied.getEntry(name)
}

func (m *memory) keepDenial(name string, d denial) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.denied.putEntry(name, d)
}

// claimResult returns what stands in place of a part of a request, if that is known. If it is not, the caller is
// the only one to judge the part until it calls release: requests that go side by side hold the same parts, and
// a person is asked once.
func (m *memory) claimResult(ctx context.Context, of digest) (instead []byte, known bool, release func(), err error) {
	for {
		m.mu.Lock()
		instead, known = m.results.getEntry(of)
		busy := m.busy[of]
		if known || busy == nil {
			break
		}
		m.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, false, nil, ctx.Err()
		}
	}
	defer m.mu.Unlock()
	if known {
		return instead, true, func() {}, nil
	}
	done := make(chan struct{})
	m.busy[of] = done
	return nil, false, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.busy, of)
		close(done)
	}, nil
}

func (m *memory) keepResult(of digest, instead []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.results.putEntry(of, instead)
}
