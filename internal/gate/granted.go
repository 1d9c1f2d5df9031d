package gate

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/clawai/clawai/policy"
)

// sharedGrants holds the grants of the agent's session, from all its processes. A grant is valid
// while its entry is in the ledger and the process that added it runs. Only that process shows the
// grant to people and revokes it. Session.mu guards sharedGrants.
type sharedGrants struct {
	shared  Ledger               // nil when grants hold only in this process
	server  string               // the server's name and location, because another server may have the same name
	entries map[[16]byte][]Entry // the entries of all processes, by Entry.Key
}

// syncEntries appends this process's own entries to the ledger, and reads the entries that other
// processes have added. After an error no grant is valid.
func (g *sharedGrants) syncEntries(own ...Entry) error {
	since, err := g.shared.Append(own...)
	for _, e := range since {
		all := g.entries[e.Key]
		if e.Back {
			all = slices.DeleteFunc(all, func(o Entry) bool { return o.ID == e.ID })
		} else {
			all = append(all, e)
		}
		if g.entries == nil {
			g.entries = map[[16]byte][]Entry{}
		}
		if g.entries[e.Key] = all; len(all) == 0 {
			delete(g.entries, e.Key)
		}
	}
	return err
}

// addGrant stores a grant for one prompt rule and one value. The result kept is false when the
// ledger cannot be written.
func (g *sharedGrants) addGrant(p Policy, rule *policy.Rule, value [sha256.Size]byte) (e Entry, kept bool) {
	if g.shared == nil || rule == nil {
		return e, true
	}
	e = Entry{Key: g.grantKey(p, rule, value), ID: entryID(), At: time.Now()}
	return e, g.syncEntries(e) == nil
}

// endGrant revokes a grant. If the ledger cannot be written, the grant stays valid in other
// processes until this process ends.
func (g *sharedGrants) endGrant(e Entry) {
	if g.shared != nil && e.ID != 0 {
		e.Back = true
		_ = g.syncEntries(e)
	}
}

// denyValue revokes all grants for one prompt rule and one value, in all processes.
func (g *sharedGrants) denyValue(p Policy, rule *policy.Rule, value [sha256.Size]byte) {
	if g.shared == nil || rule == nil {
		return
	}
	_ = g.syncEntries()
	for _, e := range slices.Clone(g.entries[g.grantKey(p, rule, value)]) {
		g.endGrant(e)
	}
}

// isAllowed reports whether a running process holds a grant for key.
func (g *sharedGrants) isAllowed(key [16]byte) bool {
	return slices.ContainsFunc(g.entries[key], func(e Entry) bool { return g.shared.Alive(e.By) })
}

// grantKey returns the key of the prompt of rule r for exactly one value. The key is the same in
// all processes with the same rules and the same server.
func (g *sharedGrants) grantKey(p Policy, r *policy.Rule, value [sha256.Size]byte) (k [16]byte) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d\x00%x\x00%s", p.Revision(), r.Pos.File, r.Index, value, g.server))
	copy(k[:], sum[:])
	return k
}

// isGranted reports whether a grant of the agent's session allows the calls. The parameter own is
// true if this process has such a grant; another process may have one too.
func (s *Session) isGranted(own bool, r *policy.Rule, cs []policy.Call) bool {
	if s.granted.shared == nil || r == nil {
		return own
	}
	s.mu.Lock()
	err := s.granted.syncEntries()
	none := len(s.granted.entries) == 0
	s.mu.Unlock()
	if !own && (err != nil || none) { // no grant can match, so the digest is not computed
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
