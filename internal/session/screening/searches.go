package screening

import (
	"slices"
	"sync/atomic"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp/reply"
	"github.com/clawai/clawai/internal/session/carried"
	"github.com/clawai/clawai/policy"
)

// searches prepares what to look for once for each policy of a session, because it costs more than
// to look.
type searches [policy.OnList + 1]atomic.Pointer[search]

// search is what the rules of a policy want to be looked for in calls, in replies or in lists.
type search struct {
	rules  gate.Policy
	kinds  []string // never changed: inspections share them
	wanted reply.Wanted
	err    error
}

// forRules returns what the rules want. Of what comes back, marks that imitate our fence are wanted
// as well.
func (s *searches) forRules(on policy.On, p gate.Policy) *search {
	if ready := s[on].Load(); ready != nil && ready.rules == p {
		return ready
	}
	one := &search{rules: p}
	kinds, _ := p.Screens(on)
	if one.kinds = slices.Clone(kinds); on != policy.OnCall {
		one.kinds = append(one.kinds, reply.Fence)
	}
	one.kinds = slices.Clip(one.kinds)
	one.wanted, one.err = carried.WantedKinds(one.kinds, p)
	s[on].Store(one)
	return one
}
