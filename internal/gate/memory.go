package gate

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/clawai/clawai/policy"
)

// maxKept is the maximum number of grants, and of denials, in a session. When there are more, the
// oldest is dropped, and a person is asked about its calls again.
const maxKept = 1000

// maxWide is the maximum number of wide grants. The number is small because each wide grant is
// tried on every call that its rule asks about.
const maxWide = 64

// memory holds a person's answers about calls. Session.mu guards it. SetPolicy clears it.
type memory struct {
	grants  map[key]*storedGrant
	wide    []*wideGrant // oldest first; the slice is replaced, never modified in place
	denials map[key]denial
	last    uint64 // number of the newest grant
}

// key identifies a remembered answer: the prompt of one rule for exactly one value.
type key struct {
	rule  *policy.Rule
	value [sha256.Size]byte
}

// denial is the answer of a person who denied a call.
type denial struct {
	at     time.Time
	words  string
	always bool // the denial holds until a policy with its new rule is loaded
}

// recallAnswer returns a person's earlier answer about the calls cs that r asks about.
func recallAnswer[T any](s *Session, from *map[key]T, r *policy.Rule, cs []policy.Call) (said T, ok bool) {
	s.mu.Lock()
	none := len(*from) == 0
	s.mu.Unlock()
	if none { // nothing is stored, so the digest is not computed
		return said, false
	}
	k := key{r, valueOf(cs)}
	s.mu.Lock()
	defer s.mu.Unlock()
	said, ok = (*from)[k]
	return said, ok
}

// deniedForGood denies a call that a person has denied for good. Such a denial holds until the
// rules change.
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

// deniedRecently denies a call that a person denied less than DenyMemory ago.
func (s *Session) deniedRecently(x *Exchange, v *Verdict) bool {
	d, ok := s.recentDenial(v.Rule, x.Calls)
	return ok && v.denyQuestion(CodeDeniedRecently, appendWords("the owner denied the same call "+sinceText(time.Since(d.at)), d.words))
}

func (s *Session) recentDenial(r *policy.Rule, cs []policy.Call) (d denial, ok bool) {
	d, ok = recallAnswer(s, &s.memory.denials, r, cs)
	return d, ok && time.Since(d.at) < s.o.DenyMemory
}

// applyGrant turns a prompt into an allow when a grant of the session covers the calls.
func (s *Session) applyGrant(x *Exchange, v *Verdict) {
	if v.Stage == StageRate { // a person is asked about each call over a limit
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
	if g != nil { // nil when the grant belongs to another process
		g.Uses++
		g.Used = time.Now()
	}
	v.Action, v.Stage, v.Code = policy.Allow, StageAsk, CodeAllowedInSession
}

// findWideGrant returns a wide grant that covers the calls of x. r is the rule that asks. A call
// that a person has just denied gets no wide grant, because that denial was about this very call. A
// call that asks because of the session's labels never reaches this function (liftVerdict). The
// reason is that the person who gave the grant may not have known of the labels.
func (s *Session) findWideGrant(r *policy.Rule, x *Exchange) (*storedGrant, bool) {
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
			return &w.storedGrant, true
		}
	}
	return nil, false
}

// isWideGrantValid reports whether a wide grant of this process is still valid in the agent's
// session. It removes an invalid grant.
func (s *Session) isWideGrantValid(w *wideGrant) bool {
	if s.granted.shared == nil {
		return true
	}
	s.mu.Lock()
	err := s.granted.syncEntries()
	lasts := err == nil && slices.ContainsFunc(s.granted.entries[w.entry.Key], func(e Entry) bool { return e.ID == w.entry.ID })
	if !lasts {
		s.memory.wide = slices.DeleteFunc(slices.Clone(s.memory.wide), func(o *wideGrant) bool { return o == w })
	}
	s.mu.Unlock()
	if !lasts {
		s.notifyGrants()
	}
	return lasts
}

// rememberAllow stores an answer as a grant, unless the rules have changed since q was judged. A
// grant without a bound covers exactly these calls.
func (s *Session) rememberAllow(q *question, bound Bound) {
	id := newID()
	s.mu.Lock()
	defer s.mu.Unlock()
	k, m := key{q.now, q.value}, &s.memory
	if s.policy.Load() != q.under || m.denials[k].always || bound == nil && m.grants[k] != nil {
		return
	}
	delete(m.denials, k) // the person now allows a call that was denied before
	if bound != nil {
		s.rememberWide(q, &wideGrant{rule: q.now, bound: bound}, id)
		return
	}
	entry, kept := s.granted.addGrant(*q.under, q.now, q.value)
	if !kept {
		return
	}
	if m.grants == nil {
		m.grants = make(map[key]*storedGrant)
	}
	if len(m.grants) >= maxKept {
		first := oldestKey(m.grants, func(a, b *storedGrant) bool { return a.number < b.number })
		s.granted.endGrant(m.grants[first].entry)
		delete(m.grants, first)
	}
	m.last++
	m.grants[k] = newGrant(id, m.last, q)
	m.grants[k].entry = entry
	q.regranted = true
	s.waiting.wakeQuestions(&q.value)
}

// rememberWide stores w, unless there is a grant with the same rule and title. The caller must hold
// mu.
func (s *Session) rememberWide(q *question, w *wideGrant, id string) {
	m, title := &s.memory, w.bound.Title()
	if slices.ContainsFunc(m.wide, func(has *wideGrant) bool { return has.rule == w.rule && has.Reach == title }) {
		return
	}
	entry, kept := s.granted.addGrant(*q.under, q.now, sha256.Sum256([]byte(title)))
	if !kept {
		return
	}
	m.last++
	w.storedGrant = *newGrant(id, m.last, q)
	w.Reach, w.entry = title, entry
	if len(m.wide) >= maxWide {
		s.granted.endGrant(m.wide[0].entry)
	}
	m.wide = append(slices.Clone(m.wide[max(0, len(m.wide)-maxWide+1):]), w)
	q.regranted = true
	s.waiting.wakeQuestions(nil)
}

// rememberDeny stores a denial. It holds until the rules change if the person denied for good.
// Otherwise it holds for DenyMemory, and only if the person was shown everything in the call.
// rememberDeny also ends matching grants.
func (s *Session) rememberDeny(q *question, r reply) {
	always := r.Reply == DenyAlways
	against, _ := s.findWideGrant(q.now, q.x) // this grant may be new: a person may have answered another question in the meantime
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.policy.Load() != q.under || q.x.asks != "" { // the denial of a reply is not stored, because the next reply is different
		return
	}
	k, m := key{q.now, q.value}, &s.memory
	if against != nil {
		s.granted.endGrant(against.entry)
		m.wide = slices.DeleteFunc(slices.Clone(m.wide), func(w *wideGrant) bool { return &w.storedGrant == against })
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

// sinceText returns an elapsed time as words for the agent.
func sinceText(d time.Duration) string {
	if d < 2*time.Second {
		return "a moment ago"
	}
	return fmt.Sprintf("%d seconds ago", d/time.Second)
}
