package gate

import (
	"fmt"
	"time"

	"github.com/clawai/clawai/internal/audit"
	"github.com/clawai/clawai/policy"
)

// A person who is asked too often stops reading. What is here turns a prompt into
// a deny, and nothing into an allow.

// burst is how long questions come as one: they are shown as one list.
const burst = time.Second

// pace counts what a person is asked, guarded by Session.mu.
type pace struct {
	limit int         // questions a minute; negative: any number
	asked []time.Time // the bursts of the last minute, oldest first
	until time.Time   // muted
}

// next says whether a question may be asked at now, and whether this is the one
// that was too many.
func (p *pace) next(now time.Time) (ok, tooMany bool) {
	n := len(p.asked)
	switch {
	case p.limit < 0:
		return true, false
	case now.Before(p.until):
		return false, false
	case n > 0 && now.Sub(p.asked[n-1]) < burst:
		return true, false
	}
	for len(p.asked) > 0 && now.Sub(p.asked[0]) >= time.Minute {
		p.asked = p.asked[1:]
	}
	if len(p.asked) >= p.limit {
		p.asked, p.until = nil, now.Add(time.Minute)
		return false, true
	}
	p.asked = append(p.asked, now)
	return true, false
}

// spare denies what a person should not be asked: the same call that was denied
// a moment ago, and anything when the session asks too often.
func (s *Session) spare(x *Exchange, v Verdict, b *batch) Verdict {
	if d, ago, ok := s.denied(v.Rule, x.Calls); ok {
		return x.spared(v, CodeDeniedRecently, said("the owner denied the same call "+since(ago), d.words))
	}
	s.mu.Lock()
	ok, tooMany := s.pace.next(time.Now())
	n, until := s.pace.limit, s.pace.until
	if tooMany && s.o.OnMuted != nil && !s.closed.Load() {
		s.askers.Go(func() { hook(func() { s.o.OnMuted(n, until) }) })
	}
	s.mu.Unlock()
	if ok {
		return v
	}
	if tooMany {
		b.events = append(b.events, &audit.Event{
			Kind: audit.Muted, Code: CodeMuted, Server: x.Event.Server, ServerGuess: x.Event.ServerGuess,
			Reason: fmt.Sprintf("more than %d questions within a minute: until %s nobody is asked, and what would be asked is denied",
				n, until.UTC().Format(time.RFC3339)),
		})
	}
	return x.spared(v, CodeMuted, "it came with too many questions within a minute; the owner is told")
}

// spared is a prompt that no person sees.
func (x *Exchange) spared(v Verdict, code Code, why string) Verdict {
	v.Action, v.Stage, v.Code, v.Reason = policy.Deny, StageAsk, code, why
	x.note(v, why)
	return v
}
