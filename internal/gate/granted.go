package gate

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/clawai/clawai/policy"
)

// granted is what was allowed for the rest of the agent's session, in all its processes. A
// grant holds as long as it stands in the ledger and the process that was given it runs, which
// shows it to people and takes it back. It is guarded by Session.mu.
type granted struct {
	shared Ledger // nil where grants are this process's alone
	server string // which it is, and where: one of the same name may be another
	of     map[[16]byte][]Entry
}

// syncEntries adds entries and takes in what others have added. An error says that no grant holds.
func (g *granted) syncEntries(own ...Entry) error {
	since, err := g.shared.Append(own...)
	for _, e := range since {
		all := g.of[e.Key]
		if e.Back {
			all = slices.DeleteFunc(all, func(o Entry) bool { return o.ID == e.ID })
		} else {
			all = append(all, e)
		}
		if g.of == nil {
			g.of = map[[16]byte][]Entry{}
		}
		if g.of[e.Key] = all; len(all) == 0 {
			delete(g.of, e.Key)
		}
	}
	return err
}

// addGrant keeps what rule asks about one value as allowed, unless the others cannot be told.
func (g *granted) addGrant(p Policy, rule *policy.Rule, value [sha256.Size]byte) (e Entry, kept bool) {
	if g.shared == nil || rule == nil {
		return e, true
	}
	e = Entry{Key: g.grantKey(p, rule, value), ID: entryID(), At: time.Now()}
	return e, g.syncEntries(e) == nil
}

// endGrant takes one back. Where the others cannot be told they know it when this process has
// ended.
func (g *granted) endGrant(e Entry) {
	if g.shared != nil && e.ID != 0 {
		e.Back = true
		_ = g.syncEntries(e)
	}
}

// denyValue takes back what is allowed of one value, whoever was given it.
func (g *granted) denyValue(p Policy, rule *policy.Rule, value [sha256.Size]byte) {
	if g.shared == nil || rule == nil {
		return
	}
	_ = g.syncEntries()
	for _, e := range slices.Clone(g.of[g.grantKey(p, rule, value)]) {
		g.endGrant(e)
	}
}

// isAllowed reports whether what a key stands for is allowed by now.
func (g *granted) isAllowed(key [16]byte) bool {
	return slices.ContainsFunc(g.of[key], func(e Entry) bool { return g.shared.Alive(e.By) })
}

// grantKey names a rule's prompt for exactly one value, for all processes with the same rules
// before the same server.
func (g *granted) grantKey(p Policy, r *policy.Rule, value [sha256.Size]byte) (k [16]byte) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d\x00%x\x00%s", p.Revision(), r.Pos.File, r.Index, value, g.server))
	copy(k[:], sum[:])
	return k
}

// isGranted reports whether a grant that this process may have holds for the agent's session, or
// whether another has it.
func (s *Session) isGranted(own bool, r *policy.Rule, cs []policy.Call) bool {
	if s.granted.shared == nil || r == nil {
		return own
	}
	s.mu.Lock()
	err := s.granted.syncEntries()
	none := len(s.granted.of) == 0
	s.mu.Unlock()
	if !own && (err != nil || none) { // do not digest for nothing
		return false
	}
	value := valueOf(cs)
	shared := s.granted.grantKey(*s.policy.Load(), r, value)
	s.mu.Lock()
	holds := err == nil && s.granted.isAllowed(shared)
	if own && !holds {
		delete(s.memory.grants, key{r, value})
	}
	s.mu.Unlock()
	if own && !holds {
		s.notifyGrants()
	}
	return holds
}
