package gate

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// script plays a session byte by byte: what comes, what the person, the clock,
// the log and the owner do meanwhile.
type script struct {
	t   *testing.T
	j   *journal
	s   *Session
	xs  []*Exchange
	ops []byte
}

// next takes a byte as a number below n.
func (p *script) next(n int) int {
	if len(p.ops) == 0 {
		return 0
	}
	b := p.ops[0]
	p.ops = p.ops[1:]
	return int(b) % n
}

var marks = []string{"allow", "prompt", "deny", "malformed", "panic", "free", "?", ""}

// asking is byName, but asks about everything it allows.
var asking = rules(func(cs []policy.Call) policy.Decision {
	d := byName(cs)
	if d.Action == policy.Allow {
		return policy.Decision{Action: policy.Prompt, Rule: promptRule}
	}
	return d
})

func (p *script) exchange() *Exchange {
	x := p.j.message("message")
	if mark := marks[p.next(len(marks))]; mark != "" {
		x = p.j.call(mark)
	}
	p.xs = append(p.xs, x)
	return x
}

func (p *script) step() {
	switch p.next(9) {
	case 0, 1:
		var batch []*Exchange
		for range p.next(5) + 1 {
			batch = append(batch, p.exchange())
		}
		p.s.Do(p.t.Context(), batch...)
	case 2:
		p.s.Observe(p.t.Context(), p.exchange())
	case 3:
		if len(p.xs) > 0 {
			p.s.Withdraw(p.xs[p.next(len(p.xs))])
		}
	case 4:
		p.s.SetPolicy([]Policy{byName, always(denyRule), asking, nil}[p.next(4)])
	case 5:
		time.Sleep(time.Duration(p.next(60)) * time.Second)
	case 6:
		full := p.next(2) == 1
		p.j.mu.Lock()
		p.j.record = func() error {
			if full {
				return errors.New("disk full")
			}
			return nil
		}
		p.j.mu.Unlock()
	case 7:
		synctest.Wait()
	case 8:
		_ = p.s.Flush()
	}
}

// check says what must hold of every session that ever was.
func (p *script) check() {
	for _, x := range p.xs {
		how := p.j.became(x)
		if n := len(p.j.ends[x]); n != 1 {
			p.t.Errorf("%s: %s", x.Raw, how)
		}
		if how != "forward" {
			continue
		}
		if mark := string(x.Raw); mark == "deny" || mark == "malformed" || mark == "panic" || mark == "?" {
			p.t.Errorf("%s was forwarded", mark)
		}
		i := slices.IndexFunc(p.j.events, func(ev event.Event) bool { return ev.Record == x.Event.Record })
		if i < 0 {
			p.t.Errorf("%s was forwarded without a record", x.Raw)
		} else if ev := p.j.events[i]; ev.Kind == event.Decision && ev.Decision != "allow" {
			p.t.Errorf("%s was forwarded after the record of a %s", x.Raw, ev.Decision)
		}
	}
}

func FuzzDo(f *testing.F) {
	f.Add([]byte{0, 4, 0, 1, 2, 7, 1, 5, 50, 2, 1, 7})
	f.Add([]byte{0, 0, 1, 3, 0, 6, 1, 0, 0, 1, 7})
	f.Add([]byte{0, 2, 1, 1, 4, 2, 0, 0, 0, 4, 1, 5, 59, 5, 59})
	f.Fuzz(func(t *testing.T, ops []byte) {
		if len(ops) > 200 {
			return
		}
		synctest.Test(t, func(t *testing.T) {
			j := newJournal()
			var asked atomic.Int32
			j.person = func(ctx context.Context, q Question) (Answer, error) {
				if n := int(asked.Add(1)); n < len(ops) { // a person takes time, and says anything
					select {
					case <-time.After(time.Duration(ops[n]%70) * time.Second):
					case <-ctx.Done():
					}
					q.Digest[0] ^= ops[n] >> 7
					return Answer{Reply: Reply(ops[n] % 5), Digest: q.Digest}, nil
				}
				return silent(ctx, q)
			}
			s, err := New(alone(Options{Policy: byName, Recorder: j, Approver: j}))
			if err != nil {
				t.Fatal(err)
			}
			p := &script{t: t, j: j, s: s, ops: ops}
			for len(p.ops) > 0 {
				p.step()
			}
			j.mu.Lock()
			j.record = nil // what is pending must come through once there is room
			j.mu.Unlock()
			s.Close()
			p.check()
		})
	})
}
