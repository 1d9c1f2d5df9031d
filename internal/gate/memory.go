package gate

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/clawai/clawai/policy"
)

// maxKept is how many grants, and how many denials, a session keeps: the oldest
// fall away, and such a call is asked about again.
const maxKept = 1000

// maxWide is how many of the grants may be wide: each is tried on every call that its
// rule asks about.
const maxWide = 64

// memory is what a person has said of calls, guarded by Session.mu. It ends with
// the rules that asked.
type memory struct {
	grants  map[key]*held
	wide    []*wide // oldest first; a slice is never changed in its place
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

// recallAnswer looks up what a person has said of calls that r asks about.
func recallAnswer[T any](s *Session, from *map[key]T, r *policy.Rule, cs []policy.Call) (said T, ok bool) {
	s.mu.Lock()
	none := len(*from) == 0
	s.mu.Unlock()
	if none { // do not digest for nothing
		return said, false
	}
	k := key{r, valueOf(cs)}
	s.mu.Lock()
	defer s.mu.Unlock()
	said, ok = (*from)[k]
	return said, ok
}

// deniedForGood denies what a person has denied until the rules change.
func (s *Session) deniedForGood(x *Exchange, v *Verdict) bool {
	if v.Action != policy.Prompt {
		return false
	}
	d, ok := recallAnswer(s, &s.memory.denials, v.Rule, x.Calls)
	if !ok || !d.always {
		return false
	}
	v.Action, v.Code, v.Reason = policy.Deny, CodeDeniedByPerson, appendWords("the owner denied it for good", d.words)
	return true
}

// deniedRecently denies what a person has denied not longer ago than DenyMemory.
func (s *Session) deniedRecently(x *Exchange, v *Verdict) bool {
	d, ok := s.recentDenial(v.Rule, x.Calls)
	return ok && v.denyQuestion(CodeDeniedRecently, appendWords("the owner denied the same call "+sinceText(time.Since(d.at)), d.words))
}

func (s *Session) recentDenial(r *policy.Rule, cs []policy.Call) (d denial, ok bool) {
	d, ok = recallAnswer(s, &s.memory.denials, r, cs)
	return d, ok && time.Since(d.at) < s.o.DenyMemory
}

// applyGrant allows a prompt about calls that a person has allowed for the session.
func (s *Session) applyGrant(x *Exchange, v *Verdict) {
	if v.Stage == StageRate { // each call beyond a limit is asked about
		return
	}
	g, own := recallAnswer(s, &s.memory.grants, v.Rule, x.Calls)
	ok := s.isGranted(own, v.Rule, x.Calls)
	if !ok && v.Stage == StagePolicy {
		g, ok = s.findWideGrant(v.Rule, x)
	}
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if g != nil { // else another process has it
		g.Uses++
		g.Used = time.Now()
	}
	v.Action, v.Stage, v.Code = policy.Allow, StageAsk, CodeAllowedInSession
}

// findWideGrant finds a wide grant for the calls of x, about which r asks. What a person has just denied
// is none's, as the answer was about that very call. What the session has seen asks before any
// grant is looked for (lift): whoever gave it may not have known.
func (s *Session) findWideGrant(r *policy.Rule, x *Exchange) (*held, bool) {
	s.mu.Lock()
	all := s.memory.wide
	s.mu.Unlock()
	if len(all) == 0 || !isGrantable(x.Calls) {
		return nil, false
	}
	if _, denied := s.recentDenial(r, x.Calls); denied {
		return nil, false
	}
	for _, w := range all {
		if w.rule == r && w.bound.Covers(x.judgedCalls) && s.isWideGrantValid(w) {
			return &w.held, true
		}
	}
	return nil, false
}

// isWideGrantValid reports whether a wide grant of ours still stands for the agent's session; one that does
// not is dropped.
func (s *Session) isWideGrantValid(w *wide) bool {
	if s.granted.shared == nil {
		return true
	}
	s.mu.Lock()
	err := s.granted.syncEntries()
	lasts := err == nil && slices.ContainsFunc(s.granted.of[w.entry.Key], func(e Entry) bool { return e.ID == w.entry.ID })
	if !lasts {
		s.memory.wide = slices.DeleteFunc(slices.Clone(s.memory.wide), func(o *wide) bool { return o == w })
	}
	s.mu.Unlock()
	if !lasts {
		s.notifyGrants()
	}
	return lasts
}

// rememberAllow keeps an answer for the session, unless the rules have changed
// since q was judged. Without a bound it is for the very calls.
func (s *Session) rememberAllow(q *question, bound Bound) {
	id := newID()
	s.mu.Lock()
	defer s.mu.Unlock()
	k, m := key{q.now, q.value}, &s.memory
	if s.policy.Load() != q.under || m.denials[k].always || bound == nil && m.grants[k] != nil {
		return
	}
	delete(m.denials, k) // the person has changed their mind
	if bound != nil {
		s.rememberWide(q, &wide{rule: q.now, bound: bound}, id)
		return
	}
	entry, kept := s.granted.addGrant(*q.under, q.now, q.value)
	if !kept {
		return
	}
	if m.grants == nil {
		m.grants = make(map[key]*held)
	}
	if len(m.grants) >= maxKept {
		first := oldestKey(m.grants, func(a, b *held) bool { return a.number < b.number })
		s.granted.endGrant(m.grants[first].entry)
		delete(m.grants, first)
	}
	m.last++
	m.grants[k] = newGrant(id, m.last, q)
	m.grants[k].entry = entry
	q.regranted = true
	s.waiting.wakeQuestions(&q.value)
}

// rememberWide keeps w, unless the same was said before. Needs the lock.
func (s *Session) rememberWide(q *question, w *wide, id string) {
	m, title := &s.memory, w.bound.Title()
	if slices.ContainsFunc(m.wide, func(has *wide) bool { return has.rule == w.rule && has.Reach == title }) {
		return
	}
	entry, kept := s.granted.addGrant(*q.under, q.now, sha256.Sum256([]byte(title)))
	if !kept {
		return
	}
	m.last++
	w.held = *newGrant(id, m.last, q)
	w.Reach, w.entry = title, entry
	if len(m.wide) >= maxWide {
		s.granted.endGrant(m.wide[0].entry)
	}
	m.wide = append(slices.Clone(m.wide[max(0, len(m.wide)-maxWide+1):]), w)
	q.regranted = true
	s.waiting.wakeQuestions(nil)
}

// rememberDeny keeps a no: for a while when all that is in the call was shown,
// and until the rules change when it is for good. It ends what was granted.
func (s *Session) rememberDeny(q *question, r reply) {
	always := r.Reply == DenyAlways
	against, _ := s.findWideGrant(q.now, q.x) // given for another call while this one was asked about
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.policy.Load() != q.under || q.x.asks != "" { // what came back is another thing each time
		return
	}
	k, m := key{q.now, q.value}, &s.memory
	if against != nil {
		s.granted.endGrant(against.entry)
		m.wide = slices.DeleteFunc(slices.Clone(m.wide), func(w *wide) bool { return &w.held == against })
		q.regranted = true
	}
	if m.grants[k] != nil {
		delete(m.grants, k)
		q.regranted = true
	}
	s.granted.denyValue(*q.under, q.now, q.value)
	if !always && (s.o.DenyMemory < 0 || !isGrantable(q.x.Calls)) {
		return
	}
	if m.denials == nil {
		m.denials = make(map[key]denial)
	}
	if _, known := m.denials[k]; !known && len(m.denials) >= maxKept {
		delete(m.denials, oldestKey(m.denials, func(a, b denial) bool { return a.at.Before(b.at) }))
	}
	m.denials[k] = denial{at: time.Now(), words: oneLine(r.Words, maxWords), always: always || m.denials[k].always}
	if always {
		s.waiting.wakeQuestions(&q.value)
	}
}

func oldestKey[T any](all map[key]T, before func(a, b T) bool) (k key) {
	first := true
	for other := range all {
		if first || before(all[other], all[k]) {
			k, first = other, false
		}
	}
	return k
}

// sinceText gives a time that has passed, for the agent.
func sinceText(d time.Duration) string {
	if d < 2*time.Second {
		return "a moment ago"
	}
	return fmt.Sprintf("%d seconds ago", d/time.Second)
}
