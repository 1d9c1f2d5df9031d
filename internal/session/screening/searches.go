package screening

import (
	"slices"
	"sync/atomic"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp/reply"
	"github.com/clawai/clawai/internal/session/carried"
	"github.com/clawai/clawai/policy"
)

// searches caches the search for calls, replies, lists and uploads under the session's current
// policy, because preparing a search costs more than searching one message.
type searches [policy.OnCount]atomic.Pointer[search]

// search holds the kinds that the rules of a policy name: for calls, for replies or for lists.
type search struct {
	rules  gate.Policy
	kinds  []string // must not be changed, because inspections share the slice
	wanted reply.Wanted
	err    error
}

// forRules returns the search for the rules of a policy. In replies and lists the search also finds
// texts that imitate our fence.
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
