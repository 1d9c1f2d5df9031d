package gate

import (
	"cmp"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/policy"
)

// maxShown is how many bytes of a grant's calls are kept to be shown.
const maxShown = 64 << 10

// Grant is one "for this session" answer, for people.
type Grant struct {
	ID    string        // short and random
	Rule  policy.Rule   // the one that asked
	Reach string        // the title of its Bound; "" where it is for Calls alone
	Calls []policy.Call // what was allowed; not to be changed
	Cut   bool          // Calls lack what was too long to keep; what is compared is the whole
	Since time.Time
	Uses  int       // how often it has let a call through since
	Used  time.Time // the last of them; zero when there is none
}

// held is a grant as the session keeps it.
type held struct {
	Grant
	number uint64 // in order of time
	entry  Entry  // of it in what processes share
}

// wide is a grant that reaches beyond its calls.
type wide struct {
	held
	rule  *policy.Rule // the one that asked
	bound Bound
}

// Grants lists the answers that hold for the session, oldest first.
func (s *Session) Grants() []Grant {
	s.mu.Lock()
	all := make([]held, 0, len(s.memory.grants))
	for _, g := range s.memory.grants {
		all = append(all, *g)
	}
	for _, w := range s.memory.wide {
		all = append(all, w.held)
	}
	s.mu.Unlock()
	slices.SortFunc(all, func(a, b held) int { return cmp.Compare(a.number, b.number) })
	list := make([]Grant, len(all))
	for i := range all {
		list[i] = all[i].Grant
	}
	return list
}

// Revoke ends a grant: no call that is judged after it has returned is let
// through by it. False means that there is none of that name.
func (s *Session) Revoke(id string) bool {
	s.mu.Lock()
	n := len(s.memory.wide)
	s.memory.wide = slices.DeleteFunc(slices.Clone(s.memory.wide), func(w *wide) bool {
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

// notifyGrants tells whoever publishes the grants that they have changed.
func (s *Session) notifyGrants() {
	if s.o.OnGrants != nil {
		runHook(s.o.OnGrants)
	}
}

// newID gives enough to tell the grants of a session apart; two of one name would be
// revoked together.
func newID() string { return strings.ToLower(rand.Text()[:8]) }

func newGrant(id string, number uint64, q *question) *held {
	g := &held{Grant: Grant{ID: id, Since: time.Now()}, number: number}
	if q.now != nil {
		g.Rule = *q.now
	}
	g.Calls, g.Cut = copyCalls(q.x.Calls)
	return g
}

// copyCalls copies calls as far as there is room: the frame they lie in is not kept.
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
		if room -= 200; room < 0 { // for the call itself
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
			if len(*part.from) > room { // a part of it would be no JSON
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
