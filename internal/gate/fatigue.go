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

// spare denies what a person should not be asked: the same call that was denied
// a moment ago, what comes with too many others, and anything when the session asks
// too often.
func (s *Session) spare(x *Exchange, v Verdict, b *batch) Verdict {
	if d, ago, ok := s.denied(v.Rule, x.Calls); ok {
		return x.spared(v, CodeDeniedRecently, said("the owner denied the same call "+since(ago), d.words))
	}
	s.mu.Lock()
	left := s.pace.next(time.Now())
	n, until := s.pace.limit, s.pace.until
	if left == muting && s.o.OnMuted != nil && !s.closed.Load() {
		s.askers.Go(func() { hook(func() { s.o.OnMuted(n, until) }) })
	}
	s.mu.Unlock()
	switch left {
	case bearable:
		return v
	case crowded:
		return x.spared(v, CodeTooMany, fmt.Sprintf("it came with more than %d others that need a person within a second", s.pace.most))
	case muting:
		b.events = append(b.events, &event.Event{
			Kind: event.Muted, Code: CodeMuted, Server: x.Event.Server, ServerGuess: x.Event.ServerGuess,
			Reason: fmt.Sprintf("more than %d questions within a minute: until %s nobody is asked, and what would be asked is denied",
				n, until.UTC().Format(time.RFC3339)),
		})
	case muted:
	}
	return x.spared(v, CodeMuted, "it came with too many questions within a minute; the owner is told")
}

// spared is a prompt that no person sees.
func (x *Exchange) spared(v Verdict, code Code, why string) Verdict {
	v.Action, v.Stage, v.Code, v.Reason = policy.Deny, StageAsk, code, why
	x.note(v, why)
	return v
}
