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

// memory holds the parts of conversations that a Server remembers. Each part has a limit. If a
// result is forgotten, it is judged again when a request repeats it.
type memory struct {
	mu      *sync.Mutex // guards the fields below
	calls   recent[string, madeCall]
	results recent[digest, []byte]   // for each judged result, the content that takes its place; nil if the result stays unchanged
	busy    map[digest]chan struct{} // results that a goroutine is judging; the channel is closed at the end
	denied  recent[string, denial]   // refused calls, by the name that takes the place of the tool's name
	noted   recent[string, struct{}]
	joined  recent[string, struct{}]
}

func newMemory() memory {
	return memory{mu: &sync.Mutex{}, busy: map[digest]chan struct{}{}, results: recent[digest, []byte]{most: maxParts, weigh: func(v []byte) int { return len(v) }}}
}

type digest [sha256.Size]byte

// madeCall is a model's call in the form for the rules.
type madeCall struct {
	calls  []policy.Call
	cover  Cover
	record string // id of the decision's record; "" if there is none
}

// denial is a refused call.
type denial struct {
	id    string // id of the call; "" if the service gives none
	name  []byte // the tool's name as JSON in the reply
	words string // the denial's text for the agent
}

// deniedPrefix begins the names for refused calls. No tool of the client can have such a name: the
// rest is random, and it is chosen after the client has sent its list of tools.
const deniedPrefix = "clawai_denied_"

// newDeniedName returns a name for a refused call.
func newDeniedName() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // rand.Read never fails
	return deniedPrefix + hex.EncodeToString(b[:])
}

// maxRecent is the number of newest entries that a part of the memory keeps in any case.
const maxRecent = 1 << 12

// maxParts is used instead of maxRecent for parts of requests. It is larger because each request
// repeats all earlier parts of its conversation, and these should not be judged again. An entry is
// small.
const maxParts = 1 << 16

// maxWeight limits the total bytes of the contents in one half of memory.results. The last entry
// may exceed this limit.
const maxWeight = 32 << 20

// recent is a map that forgets the older half of its entries when it is full.
type recent[K comparable, V any] struct {
	now, before map[K]V
	most        int         // maximum number of entries in the field now; 0 means maxRecent
	weigh       func(V) int // returns the size of an entry in bytes; nil means that the sizes are not limited
	weight      int         // total size of the entries in the field now
}

func (r *recent[K, V]) getEntry(k K) (V, bool) {
	if v, ok := r.now[k]; ok {
		return v, true
	}
	v, ok := r.before[k]
	if ok {
		r.putEntry(k, v) // moves the entry into the field now, because an entry that is used is treated as new
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

// noteOnce remembers a text. It returns true if the text was not remembered before.
func (m *memory) noteOnce(what string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.noted.getEntry(what); known {
		return false
	}
	m.noted.putEntry(what, struct{}{})
	return true
}

// joinOnce calls the function join for an id, unless join has already succeeded for this id.
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

// maxKept is the maximum size in bytes of the arguments of a remembered call. A longer call is read
// again from the request that holds its result.
const maxKept = 4 << 10

func (m *memory) keepCall(id string, c madeCall) {
	if id == "" || len(id) > maxKept || len(c.calls) == 0 || len(c.calls)*len(c.calls[0].Args) > maxKept {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls.putEntry(id, c)
}

// hasDenials reports whether any call was refused. Then a request may hold a refused call.
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

// claimResult returns the content that takes the place of a part of a request, if the part was
// judged before (known). If another goroutine is judging the part, claimResult waits for it.
// Otherwise only the caller may judge the part, until it calls release. So parallel requests with
// the same part ask a person only once.
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
