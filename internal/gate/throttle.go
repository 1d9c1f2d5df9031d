package gate

import (
	"fmt"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// A person who is asked too often stops reading. What is here turns a prompt into
// a deny, and nothing into an allow.

// burst is how long questions come as one: they are shown as one list, of no more
// than may wait at once.
const burst = time.Second

// pace counts what a person is asked, guarded by Session.mu.
type pace struct {
	limit int         // questions a minute; negative: any number
	most  int         // questions in one burst
	asked []time.Time // the bursts of the last minute, oldest first
	last  int         // questions in the newest of them
	until time.Time   // muted
}

// room is what there is for one more question.
type room uint8

const (
	crowded  room = iota // its burst is full
	muted                // nobody is asked for a while
	muting               // this is the one that was too many
	bearable             // it may be asked
)

// next says whether a question may be asked at now.
func (p *pace) next(now time.Time) room {
	n := len(p.asked)
	switch {
	case p.limit < 0:
		return bearable
	case now.Before(p.until):
		return muted
	case n > 0 && now.Sub(p.asked[n-1]) < burst && p.last >= p.most:
		return crowded
	case n > 0 && now.Sub(p.asked[n-1]) < burst:
		p.last++
		return bearable
	}
	for len(p.asked) > 0 && now.Sub(p.asked[0]) >= time.Minute {
		p.asked = p.asked[1:]
	}
	if len(p.asked) >= p.limit {
		p.asked, p.until = nil, now.Add(time.Minute)
		return muting
	}
	p.asked, p.last = append(p.asked, now), 1
	return bearable
}

// throttled denies what comes with too many other questions, and every question
// when the session asks too often.
func (s *Session) throttled(x *Exchange, v *Verdict) bool {
	s.mu.Lock()
	left := s.pace.next(time.Now())
	n, until := s.pace.limit, s.pace.until
	if left == muting && s.o.OnMuted != nil && !s.closed.Load() {
		s.askers.Go(func() { hook(func() { s.o.OnMuted(n, until) }) })
	}
	s.mu.Unlock()
	switch left {
	case bearable:
		return false
	case crowded:
		return v.unaskable(CodeTooMany, fmt.Sprintf("it came with more than %d others that need a person within a second", s.pace.most))
	case muting:
		x.before = &event.Event{
			Kind: event.Muted, Code: CodeMuted, Server: x.Event.Server, ServerGuess: x.Event.ServerGuess,
			Reason: fmt.Sprintf("more than %d questions within a minute: until %s nobody is asked, and what would be asked is denied",
				n, until.UTC().Format(time.RFC3339)),
		}
	case muted:
	}
	return v.unaskable(CodeMuted, "it came with too many questions within a minute; the owner is told")
}

// unaskable denies a prompt that no person sees.
func (v *Verdict) unaskable(code Code, why string) bool {
	v.Action, v.Code, v.Reason, v.owner = policy.Deny, code, why, why
	return true
}
