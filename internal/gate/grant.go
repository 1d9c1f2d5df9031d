package gate

import (
	"cmp"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/policy"
)

// maxShown is how many bytes of a grant's calls are kept for people to read.
const maxShown = 64 << 10

// Grant is one "for this session" answer, as people see it.
type Grant struct {
	ID    string        // short and random
	Rule  policy.Rule   // the rule that asked
	Reach string        // the title of its Bound; "" when the grant covers only Calls
	Calls []policy.Call // the allowed calls; do not modify
	Cut   bool          // Calls is shortened because it was too long to keep; the gate still compares new calls with the unshortened calls
	Since time.Time
	Uses  int       // number of calls that the grant has allowed
	Used  time.Time // time of the last use; zero when unused
}

// storedGrant is a grant as the session stores it.
type storedGrant struct {
	Grant
	number uint64 // rank in the order of creation
	entry  Entry  // the grant's entry in the ledger that processes share
}

// wideGrant is a grant that also covers other calls than its own.
type wideGrant struct {
	storedGrant
	rule  *policy.Rule // the rule that asked
	bound Bound
}

// Grants returns the grants of the session, the oldest first.
func (s *Session) Grants() []Grant {
	s.mu.Lock()
	all := make([]storedGrant, 0, len(s.memory.grants))
	for _, g := range s.memory.grants {
		all = append(all, *g)
	}
	for _, w := range s.memory.wide {
		all = append(all, w.storedGrant)
	}
	s.mu.Unlock()
	slices.SortFunc(all, func(a, b storedGrant) int { return cmp.Compare(a.number, b.number) })
	list := make([]Grant, len(all))
	for i := range all {
		list[i] = all[i].Grant
	}
	return list
}

// Revoke ends a grant. The grant allows no call that is judged after Revoke returns. Revoke returns
// false when no grant has this id.
func (s *Session) Revoke(id string) bool {
	s.mu.Lock()
	n := len(s.memory.wide)
	s.memory.wide = slices.DeleteFunc(slices.Clone(s.memory.wide), func(w *wideGrant) bool {
		if w.ID == id {
			s.granted.endGrant(w.entry)
		}
		return w.ID == id
	})
	found := len(s.memory.wide) < n
	for k, g := range s.memory.grants {
		if g.ID == id {
			s.granted.endGrant(g.entry)
			delete(s.memory.grants, k)
			found = true
		}
	}
	s.mu.Unlock()
	if found {
		s.notifyGrants()
	}
	return found
}

// notifyGrants calls OnGrants, because the grants have changed.
func (s *Session) notifyGrants() {
	if s.o.OnGrants != nil {
		runHook(s.o.OnGrants)
	}
}

// newID returns a random id for a grant. The id is long enough to be unique in a session. This
// matters because Revoke ends all grants with the same id.
func newID() string { return strings.ToLower(rand.Text()[:8]) }

func newGrant(id string, number uint64, q *question) *storedGrant {
	g := &storedGrant{Grant: Grant{ID: id, Since: time.Now()}, number: number}
	if q.now != nil {
		g.Rule = *q.now
	}
	g.Calls, g.Cut = copyCalls(q.x.Calls)
	return g
}

// copyCalls copies calls, up to maxShown bytes. A copy is needed because otherwise the whole frame
// of the calls would stay in memory.
func copyCalls(cs []policy.Call) (kept []policy.Call, cut bool) {
	room := maxShown
	part := func(s string) string {
		if len(s) > room {
			s, cut = s[:room], true
		}
		room -= len(s)
		return strings.Clone(s)
	}
	for _, c := range cs {
		if room -= 200; room < 0 { // about the size of the call without its texts
			return kept, true
		}
		k := policy.Call{Subject: c.Subject, Server: part(c.Server), Method: part(c.Method), Malformed: part(c.Malformed)}
		for _, name := range c.Names {
			if room -= 16; room < 0 {
				return append(kept, k), true
			}
			k.Names = append(k.Names, part(name))
		}
		for _, part := range [2]struct{ from, to *[]byte }{{&c.Args, &k.Args}, {&c.Extra, &k.Extra}} {
			if len(*part.from) > room { // a cut part would be invalid JSON
				cut = true
				continue
			}
			*part.to = slices.Clone(*part.from)
			room -= len(*part.to)
		}
		kept = append(kept, k)
	}
	return kept, cut
}
