package gate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// A person who is asked too often stops reading. The code in this file turns a prompt into a deny,
// and never anything into an allow.

// burst is the time within which several questions count as one, because the person sees them as
// one list. The number of questions in a burst is limited (pace.most).
const burst = time.Second

// pace counts the questions that a person gets. Session.mu guards it.
type pace struct {
	limit int            // questions per minute; negative: no limit
	most  int            // maximum number of questions in one burst
	asked []time.Time    // start times of the bursts of the last minute, oldest first
	last  map[string]int // number of questions in the newest burst, by server
	until time.Time      // no person is asked before this time

	shared Ledger // shares the times of questions with the other processes of the agent; nil when nothing is shared
}

// room tells whether one more question may be asked now.
type room uint8

const (
	crowded     room = iota // the burst is full
	muted                   // a pause is running
	muting                  // this question exceeds the limit and starts a pause
	bearable                // the question may be asked
	unknownPace             // the ledger failed, so the questions of other processes are unknown
)

// questionRoom returns whether one more question may be asked now. server is the server of the
// message that the question is about.
func (p *pace) questionRoom(server string, now time.Time) room {
	if p.limit < 0 {
		return bearable
	}
	if p.syncEntries() != nil {
		return unknownPace
	}
	n := len(p.asked)
	switch {
	case now.Before(p.until):
		return muted
	case n > 0 && now.Sub(p.asked[n-1]) < burst && p.last[server] >= p.most:
		return crowded
	case n > 0 && now.Sub(p.asked[n-1]) < burst:
		p.last[server]++
		return bearable
	}
	for len(p.asked) > 0 && now.Sub(p.asked[0]) >= time.Minute {
		p.asked = p.asked[1:]
	}
	if len(p.asked) >= p.limit {
		p.asked, p.until = nil, now.Add(time.Minute)
		_ = p.syncEntries(Entry{Key: mutedKey, At: p.until}) // the error is ignored because this question is denied in any case
		return muting
	}
	p.asked, p.last = append(p.asked, now), map[string]int{server: 1}
	if p.syncEntries(Entry{Key: askedKey, At: now}) != nil {
		return unknownPace
	}
	return bearable
}

// The keys of the ledger entries about questions.
var (
	askedKey = [16]byte{'a'} // a burst began
	mutedKey = [16]byte{'m'} // no person is asked before the entry's time
)

// syncEntries appends this process's entries to the ledger and reads the entries of other
// processes.
func (p *pace) syncEntries(own ...Entry) error {
	if p.shared == nil {
		return nil
	}
	for i := range own {
		own[i].ID = entryID()
	}
	since, err := p.shared.Append(own...)
	for _, e := range since {
		switch {
		case len(own) > 0 && e.ID == own[0].ID:
		case e.Key == askedKey:
			i := len(p.asked)
			for i > 0 && p.asked[i-1].After(e.At) {
				i--
			}
			p.asked, p.last = slices.Insert(p.asked, i, e.At), map[string]int{}
		case e.Key == mutedKey && e.At.After(p.until):
			p.asked, p.until = nil, e.At
		}
	}
	return err
}

// entryID returns a random id. It is long enough that two processes practically never get the same
// id.
func entryID() uint64 { return rand.Uint64() } //nolint:gosec // not a secret

// throttleQuestion denies a prompt when there are too many questions at once, and every prompt
// during a pause.
func (s *Session) throttleQuestion(x *Exchange, v *Verdict) bool {
	if x.Unasked && len(x.Calls) == 0 {
		return v.denyQuestion(CodeWithheld, "nobody has asked for it, so nobody is asked about it")
	}
	s.mu.Lock()
	p := s.paceOf(x)
	left := p.questionRoom(x.Event.Server, time.Now())
	n, until := p.limit, p.until
	if left == muting && s.o.OnMuted != nil && !s.closed.Load() {
		s.askers.Go(func() { runHook(func() { s.o.OnMuted(n, until) }) })
	}
	s.mu.Unlock()
	switch left {
	case bearable:
		return false
	case unknownPace:
		return v.denyQuestion(CodeNobodyToAsk, "how often the owner was asked in this session cannot be known; tell the owner")
	case crowded:
		return v.denyQuestion(CodeTooMany, fmt.Sprintf("it came with more than %d others that need a person within a second", p.most))
	case muting:
		x.before = &event.Event{
			Kind: event.Muted, Code: CodeMuted, Server: x.Event.Server, ServerGuess: x.Event.ServerGuess,
			Reason: fmt.Sprintf("more than %d questions within a minute: until %s nobody is asked, and what would be asked is denied",
				n, until.UTC().Format(time.RFC3339)),
		}
	case muted:
	}
	return v.denyQuestion(CodeMuted, "it came with too many questions within a minute; the owner is told")
}

// paceOf returns the pace that counts a question about x. Each server has its own pace for the
// requests that it sends. So a server cannot use up the questions for the client's calls to other
// servers. The caller must hold mu.
func (s *Session) paceOf(x *Exchange) *pace {
	if x.Event.Direction != fromServer {
		return &s.pace
	}
	p := s.paces[x.Event.Server]
	if p == nil {
		p = &pace{limit: s.pace.limit, most: s.pace.most}
		s.paces[x.Event.Server] = p
	}
	return p
}

// denyQuestion denies a prompt without asking a person.
func (v *Verdict) denyQuestion(code Code, why string) bool {
	v.Action, v.Code, v.Reason, v.owner = policy.Deny, code, why, why
	return true
}
