package gate

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clawai/clawai/internal/event"
)

// desk is a person before whom every question lies until the test answers it.
type desk struct {
	mu    sync.Mutex
	slips []*slip
	told  map[uint64][]Verdict
	deaf  int // every so many do not notice that they are over; 0: none
}

// slip is one question on the desk.
type slip struct {
	Question
	ctx  context.Context
	says chan reply
	deaf bool // does not notice that the question is over
	once sync.Once
}

func (s *slip) say(r Reply, words string) {
	s.answer(reply{Answer: Answer{Reply: r, Digest: s.Digest, Rung: "desk", By: "anna", Words: words}})
}

// answer counts the first time only.
func (s *slip) answer(r reply) { s.once.Do(func() { s.says <- r }) }

func newDesk(j *journal) *desk {
	d := &desk{told: map[uint64][]Verdict{}}
	j.person = d.ask
	return d
}

func (d *desk) ask(ctx context.Context, q Question) (Answer, error) {
	s := &slip{Question: q, ctx: ctx, says: make(chan reply, 1)}
	d.mu.Lock()
	d.slips = append(d.slips, s)
	s.deaf = d.deaf > 0 && len(d.slips)%d.deaf == 0
	d.mu.Unlock()
	select {
	case r := <-s.says:
		return r.Answer, r.err
	case <-ctx.Done():
	}
	d.mu.Lock()
	deaf := s.deaf
	d.mu.Unlock()
	if deaf {
		select {
		case r := <-s.says:
			return r.Answer, r.err
		case <-time.After(time.Hour):
			return Answer{Reply: AllowSession, Digest: q.Digest, Rung: "desk", By: "anna"}, nil
		}
	}
	return Answer{}, context.Cause(ctx)
}

// deafen makes slips not notice that they are over.
func (d *desk) deafen(slips ...*slip) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range slips {
		s.deaf = true
	}
}

// open are the slips so far, in the order of their numbers.
func (d *desk) open() []*slip {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	slices.SortFunc(d.slips, func(a, b *slip) int { return int(a.Number) - int(b.Number) })
	return slices.Clone(d.slips)
}

func (d *desk) Ask(ctx context.Context, q Question) (Answer, error) { return d.ask(ctx, q) }

func (d *desk) Concluded(q Question, v Verdict) {
	d.mu.Lock()
	d.told[q.Number] = append(d.told[q.Number], v)
	d.mu.Unlock()
	panic("told too much") // changes nothing
}

// office is a session with a desk that is told what became of its answers.
func office(t *testing.T, p Policy, o Options) (*Session, *journal, *desk) {
	t.Helper()
	j := newJournal()
	d := newDesk(j)
	o.Policy, o.Recorder, o.Approver, o.Concluder = p, j, d, d
	s, err := New(alone(o))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, j, d
}

// of are the recorded events of a kind.
func (j *journal) of(k event.Kind) (events []event.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, ev := range j.events {
		if ev.Kind == k {
			events = append(events, ev)
		}
	}
	return events
}
