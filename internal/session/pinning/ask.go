package pinning

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/clawai/clawai/internal/mcp/pin"
	"github.com/clawai/clawai/policy"
)

// Waiting are the differences that a person has not looked at yet, of what a server has
// listed last; what is refused is among them, for its number.
func Waiting(approved, served *pin.Server, kept []string) (all []pin.Difference) {
	for _, d := range pin.Compare(approved, served) {
		if d.Class.Asks() && !slices.Contains(kept, digest(&d, served)) {
			all = append(all, d)
		}
	}
	return all
}

// digest names what is asked about: the entry as it is served.
func digest(d *pin.Difference, served *pin.Server) string {
	if d.Kind == pin.Itself {
		sum := sha256.Sum256([]byte(served.Instructions))
		return "sha256:" + hex.EncodeToString(sum[:])
	}
	e, _ := served.Entry(d.Kind, d.Name)
	return e.Digest()
}

// Approve takes what is served of these differences as approved: what is refused stays as it
// was.
func Approve(st *pin.State, served *pin.Server, all []pin.Difference) (taken int) {
	for _, d := range all {
		if d.Class == pin.Refused {
			continue
		}
		taken++
		if d.Kind == pin.Itself {
			st.Approved.Instructions, st.Approved.Version = served.Instructions, served.Version
		} else if e, there := served.Entry(d.Kind, d.Name); there {
			st.Approved.Put(e)
		}
	}
	return taken
}

// guarded asks; what falls there has no answer.
func (s *Session) guarded(server string, open []pin.Difference) (approved, answered bool) {
	defer func() {
		if recover() != nil {
			approved, answered = false, false
		}
	}()
	return s.ask(s.ctx, server, open)
}

// question has a person asked about what is different, once: what is asked about already,
// here or by another proxy, is not asked again. It is called with the sight's lock held.
func (s *Session) question(server string, mode policy.Pin, one *sight) {
	if one.asking || s.ask == nil || s.ctx.Err() != nil {
		return
	}
	b, err := s.base(server, mode)
	if err != nil || !b.asks() {
		return
	}
	served := one.served.Clone()
	open := slices.DeleteFunc(Waiting(&b.approved, &served, b.state.Kept), func(d pin.Difference) bool { return one.asked[digest(&d, &served)] })
	if !slices.ContainsFunc(open, func(d pin.Difference) bool { return d.Class != pin.Refused }) {
		return
	}
	done, ours := s.store.asking(server)
	if !ours {
		return
	}
	for i := range open {
		one.asked[digest(&open[i], &served)] = true
	}
	one.asking = true
	s.asks.Go(func() {
		approved, answered := s.guarded(server, open)
		if answered {
			err := s.store.Change(server, func(st *pin.State) (bool, error) {
				if approved {
					return Approve(st, &served, open) > 0, nil
				}
				for i := range open {
					st.Keep(digest(&open[i], &served))
				}
				return true, nil
			})
			approved = approved && err == nil
		}
		done()
		one.mu.Lock()
		one.asking = false
		s.question(server, mode, one) // what came meanwhile
		one.mu.Unlock()
		if approved && answered {
			s.told()
		}
	})
}
