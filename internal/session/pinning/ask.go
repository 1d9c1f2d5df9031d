package pinning

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/clawai/clawai/internal/mcp/pin"
	"github.com/clawai/clawai/policy"
)

// UnseenDifferences returns those differences between the approved and the served description that
// need approval. It omits a difference whose digest is in the list kept, because a person has seen
// it and not approved it. It includes entries of class Refused, so that they can be counted.
func UnseenDifferences(approved, served *pin.SelfDescription, kept []string) (all []pin.Difference) {
	for _, d := range pin.CompareServers(approved, served) {
		if d.Class.NeedsApproval() && !slices.Contains(kept, differenceDigest(&d, served)) {
			all = append(all, d)
		}
	}
	return all
}

// differenceDigest returns the digest of the served text of a difference: of the entry, or of the
// instructions.
func differenceDigest(d *pin.Difference, served *pin.SelfDescription) string {
	if d.Kind == pin.Itself {
		sum := sha256.Sum256([]byte(served.Instructions))
		return "sha256:" + hex.EncodeToString(sum[:])
	}
	e, _ := served.FindEntry(d.Kind, d.Name)
	return e.TextDigest()
}

// ApproveDifferences copies the served side of the differences to the approved side of the state.
// It returns how many it copied. It skips entries of class Refused.
func ApproveDifferences(st *pin.State, served *pin.SelfDescription, all []pin.Difference) (count int) {
	for _, d := range all {
		if d.Class == pin.Refused {
			continue
		}
		count++
		if d.Kind == pin.Itself {
			st.Approved.Instructions, st.Approved.Version = served.Instructions, served.Version
		} else if e, there := served.FindEntry(d.Kind, d.Name); there {
			st.Approved.PutEntry(e)
		}
	}
	return count
}

// askSafely asks a person. A panic counts as no answer.
func (s *ClientPins) askSafely(server string, open []pin.Difference) (approved, answered bool) {
	defer func() {
		if recover() != nil {
			approved, answered = false, false
		}
	}()
	return s.ask(s.ctx, server, open)
}

// askDifferences asks a person about the differences in a server's lists. It skips a difference
// that this session has asked about before, and asks nothing while another process asks about the
// same server. The caller holds one.mu.
func (s *ClientPins) askDifferences(server string, mode policy.Pin, one *sight) {
	if one.asking || s.ask == nil || s.ctx.Err() != nil {
		return
	}
	b, err := s.loadBase(server, mode)
	if err != nil || !b.asksPerson() {
		return
	}
	served := one.served.Clone()
	open := slices.DeleteFunc(UnseenDifferences(&b.approved, &served, b.state.Kept), func(d pin.Difference) bool { return one.asked[differenceDigest(&d, &served)] })
	if !slices.ContainsFunc(open, func(d pin.Difference) bool { return d.Class != pin.Refused }) {
		return
	}
	done, ours := s.store.claimQuestion(server)
	if !ours {
		return
	}
	for i := range open {
		one.asked[differenceDigest(&open[i], &served)] = true
	}
	one.asking = true
	s.asks.Go(func() {
		approved, answered := s.askSafely(server, open)
		if answered {
			err := s.store.ChangeState(server, func(st *pin.State) (bool, error) {
				if approved {
					return ApproveDifferences(st, &served, open) > 0, nil
				}
				for i := range open {
					st.KeepDigest(differenceDigest(&open[i], &served))
				}
				return true, nil
			})
			approved = approved && err == nil
		}
		done()
		one.mu.Lock()
		one.asking = false
		s.askDifferences(server, mode, one) // the lists may have changed during the question
		one.mu.Unlock()
		if approved && answered {
			s.told()
		}
	})
}
