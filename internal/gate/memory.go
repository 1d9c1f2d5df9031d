package gate

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/clawai/clawai/policy"
)

// maxKept is how many grants, and how many denials, a session keeps: the oldest
// fall away, and such a call is asked about again.
const maxKept = 1000

// memory is what a person has said of calls, guarded by Session.mu. It ends with
// the rules that asked.
type memory struct {
	grants  map[key]*held
	denials map[key]denial
	last    uint64
}

// key is what an answer is remembered for: this rule's prompt for exactly this
// value.
type key struct {
	rule  *policy.Rule
	value [sha256.Size]byte
}

// denial is a person's no.
type denial struct {
	at     time.Time
	words  string
	always bool // holds until the rule that was written is loaded
}

// recall settles a prompt about calls that a person has answered for longer than
// once. The rules are asked first, so it never beats a deny of theirs.
func (s *Session) recall(v Verdict, cs []policy.Call) Verdict {
	s.mu.Lock()
	none := len(s.memory.grants)+len(s.memory.denials) == 0
	s.mu.Unlock()
	if none { // do not digest for nothing
		return v
	}
	k := key{v.Rule, valueOf(cs)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if d, ok := s.memory.denials[k]; ok && d.always {
		v.Action, v.Stage, v.Code = policy.Deny, StageAsk, CodeDeniedByPerson
		v.Reason = said("the owner denied it for good", d.words)
	} else if g, ok := s.memory.grants[k]; ok && v.Stage != StageRate { // each call beyond a limit is asked about
		g.Uses++
		g.Used = time.Now()
		v.Action, v.Stage, v.Code = policy.Allow, StageAsk, CodeAllowedInSession
	}
	return v
}

// denied is a person's no to the same calls, not longer ago than DenyMemory.
func (s *Session) denied(r *policy.Rule, cs []policy.Call) (d denial, ago time.Duration, ok bool) {
	s.mu.Lock()
	none := len(s.memory.denials) == 0
	s.mu.Unlock()
	if none {
		return d, 0, false
	}
	k := key{r, valueOf(cs)}
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok = s.memory.denials[k]
	ago = time.Since(d.at)
	return d, ago, ok && ago < s.o.DenyMemory
}

// rememberAllow keeps an answer for the session, unless the rules have changed
// since q was judged.
func (s *Session) rememberAllow(q *question) {
	id := newID()
	s.mu.Lock()
	defer s.mu.Unlock()
	k, m := key{q.now, q.value}, &s.memory
	if s.policy.Load() != q.under || m.denials[k].always || m.grants[k] != nil {
		return
	}
	delete(m.denials, k) // the person has changed their mind
	if m.grants == nil {
		m.grants = make(map[key]*held)
	}
	if len(m.grants) >= maxKept {
		delete(m.grants, oldest(m.grants, func(a, b *held) bool { return a.number < b.number }))
	}
	m.last++
	m.grants[k] = newGrant(id, m.last, q)
	q.regranted = true
	s.waiting.wake(&q.value)
}

// rememberDeny keeps a no: for a while when all that is in the call was shown,
// and until the rules change when it is for good. It ends what was granted.
func (s *Session) rememberDeny(q *question, r reply) {
	always := r.Reply == DenyAlways
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.policy.Load() != q.under {
		return
	}
	k, m := key{q.now, q.value}, &s.memory
	if m.grants[k] != nil {
		delete(m.grants, k)
		q.regranted = true
	}
	if !always && (s.o.DenyMemory < 0 || !grantable(q.x.Calls)) {
		return
	}
	if m.denials == nil {
		m.denials = make(map[key]denial)
	}
	if _, known := m.denials[k]; !known && len(m.denials) >= maxKept {
		delete(m.denials, oldest(m.denials, func(a, b denial) bool { return a.at.Before(b.at) }))
	}
	m.denials[k] = denial{at: time.Now(), words: plain(r.Words, maxWords), always: always || m.denials[k].always}
	if always {
		s.waiting.wake(&q.value)
	}
}

func oldest[T any](all map[key]T, before func(a, b T) bool) (k key) {
	first := true
	for other := range all {
		if first || before(all[other], all[k]) {
			k, first = other, false
		}
	}
	return k
}

// since is a time that has passed, for the agent.
func since(d time.Duration) string {
	if d < 2*time.Second {
		return "a moment ago"
	}
	return fmt.Sprintf("%d seconds ago", d/time.Second)
}
