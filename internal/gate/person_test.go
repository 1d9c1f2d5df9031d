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

// person is a person before whom every question lies until the test answers it.
type person struct {
	mu        sync.Mutex
	questions []*pendingQuestion
	told      map[uint64][]Verdict
	deaf      int // every so many do not notice that they are over; 0: none
}

// pendingQuestion is one question on the person.
type pendingQuestion struct {
	Question
	ctx  context.Context
	says chan reply
	deaf bool // does not notice that the question is over
	once sync.Once
}

func (s *pendingQuestion) say(r Reply, words string) {
	s.answer(reply{Answer: Answer{Reply: r, Digest: s.Digest, Channel: "person", By: "anna", Words: words}})
}

// answer counts the first time only.
func (s *pendingQuestion) answer(r reply) { s.once.Do(func() { s.says <- r }) }

func newPerson(j *journal) *person {
	d := &person{told: map[uint64][]Verdict{}}
	j.person = d.ask
	return d
}

func (d *person) ask(ctx context.Context, q Question) (Answer, error) {
	s := &pendingQuestion{Question: q, ctx: ctx, says: make(chan reply, 1)}
	d.mu.Lock()
	d.questions = append(d.questions, s)
	s.deaf = d.deaf > 0 && len(d.questions)%d.deaf == 0
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
			return Answer{Reply: AllowSession, Digest: q.Digest, Channel: "person", By: "anna"}, nil
		}
	}
	return Answer{}, context.Cause(ctx)
}

// deafen makes questions not notice that they are over.
func (d *person) deafen(questions ...*pendingQuestion) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range questions {
		s.deaf = true
	}
}

// open are the questions so far, in the order of their numbers.
func (d *person) open() []*pendingQuestion {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	slices.SortFunc(d.questions, func(a, b *pendingQuestion) int { return int(a.Number) - int(b.Number) })
	return slices.Clone(d.questions)
}

func (d *person) Ask(ctx context.Context, q Question) (Answer, error) { return d.ask(ctx, q) }

func (d *person) Concluded(q Question, v Verdict) {
	d.mu.Lock()
	d.told[q.Number] = append(d.told[q.Number], v)
	d.mu.Unlock()
	panic("told too much") // changes nothing
}

// sessionWithPerson is a session with a person that is told what became of its answers.
func sessionWithPerson(t *testing.T, p Policy, o Options) (*Session, *journal, *person) {
	t.Helper()
	j := newJournal()
	d := newPerson(j)
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
