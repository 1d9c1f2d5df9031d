// Package gatetest contains tests that every gate.Approver must pass. The test of each Approver
// calls Run.
package gatetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
)

// Person answers the questions of the Approver in a test. If a method is called before the question
// is visible, it must wait for the question.
type Person interface {
	Say(r gate.Reply) // answers the only open question
	Leave()           // ends the input without an answer
}

// Reader is a Person for an Approver that shows only a part of a long question at first. Such an
// Approver must not allow a call before the person has seen the end of the question.
type Reader interface {
	Person
	// Hurry tries to allow the only open question before the person has seen its end. The Approver
	// must ignore this. The test then calls Say.
	Hurry()
	// Read moves to the end of the only open question. The test then calls Say.
	Read()
}

// Approver describes the gate.Approver to test.
type Approver struct {
	// New returns a new gate.Approver, and the person whom it asks.
	New func(t testing.TB) (gate.Approver, Person)
	// Replies lists the replies that the person can give to this gate.Approver.
	Replies []gate.Reply
	// Prompt is the maximum time in which Ask must return after a stop or a reply. The default is 1
	// minute.
	Prompt time.Duration
}

// Run runs every check as a subtest.
func Run(t *testing.T, r Approver) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			if err := c.run(t, r); err != nil {
				t.Error(err)
			}
		})
	}
}

var checks = []struct {
	name string
	run  func(t testing.TB, r Approver) error
}{
	{"answers what was said, for this question only", answers},
	{"says nothing once it is over", over},
	{"stops when it is told to", stops},
	{"is asked several at once", several},
	{"keeps to the deadline", deadline},
	{"takes a hang-up for a deny", leaves},
	{"survives any question", survives},
	{"lets nothing through before its end was in sight", reads},
}

// question returns a realistic question. Each n gives a different question.
func question(n int) gate.Question {
	args := fmt.Appendf(nil, `{"path":"/tmp/%d"}`, n)
	return gate.Question{
		Calls: []policy.Call{{
			Server: "files", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"write_file"}, Args: args,
		}},
		Rule:     policy.Rule{Action: policy.Prompt, Description: "writes need a look", Pos: policy.Position{File: "policy.toml", Line: 3, Column: 1}},
		Digest:   sha256.Sum256(args),
		Number:   uint64(n) + 1,
		Asked:    time.Now(),
		Deadline: time.Now().Add(time.Minute),
		Session:  true,
		Server:   "files",
		Revision: "0123456789ab",
	}
}

// result holds the return values of Ask.
type result struct {
	gate.Answer
	err error
}

// allows reports whether the gate would let the call of q through with this result.
func (r result) allows(q gate.Question) bool {
	return r.err == nil && r.Reply.Allows() && r.Digest == q.Digest
}

var errSlow = errors.New("Ask did not return in time")

// ask calls a.Ask with q in a goroutine. While Ask runs, it calls the function meanwhile. It
// returns the result of Ask. It returns an error if Ask panics, or if Ask does not return soon
// after the function.
func (r Approver) ask(ctx context.Context, a gate.Approver, q gate.Question, meanwhile func()) (result, error) {
	got, fell := make(chan result, 1), make(chan any, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				fell <- p
			}
		}()
		answer, err := a.Ask(ctx, q)
		got <- result{answer, err}
	}()
	meanwhile()
	limit := r.Prompt
	if limit == 0 {
		limit = time.Minute // the machine may be busy, but a longer wait is a hang
	}
	select {
	case res := <-got:
		return res, nil
	case p := <-fell:
		return result{}, fmt.Errorf("Ask panicked: %v", p)
	case <-time.After(limit):
		return result{}, errSlow
	}
}

func answers(t testing.TB, r Approver) error {
	a, person := r.New(t)
	for n, reply := range r.Replies {
		q := question(n)
		res, err := r.ask(t.Context(), a, q, func() { person.Say(reply) })
		if err != nil {
			return fmt.Errorf("%s: %w", reply, err)
		}
		if res.err != nil || res.Reply != reply || res.Digest != q.Digest || res.Channel == "" {
			return errors.Join(fmt.Errorf("%s was said; got %s from %q for %x", reply, res.Reply, res.Channel, res.Digest[:4]), res.err)
		}
	}
	return nil
}

func over(t testing.TB, r Approver) error {
	a, _ := r.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return r.denied(ctx, a, question(0), func() {}, "asked with a context that had ended")
}

func stops(t testing.TB, r Approver) error {
	a, person := r.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := r.denied(ctx, a, question(0), cancel, "told to stop"); err != nil {
		return err
	}
	if len(r.Replies) == 0 {
		return nil
	}
	// The previous question must have no effect on the next question.
	q, reply := question(1), r.Replies[0]
	res, err := r.ask(t.Context(), a, q, func() { person.Say(reply) })
	if err == nil && (res.err != nil || res.Reply != reply || res.Digest != q.Digest) {
		err = errors.Join(fmt.Errorf("after a question that was stopped, %s was said; got %s", reply, res.Reply), res.err)
	}
	return err
}

// several asks several questions at the same time, and cancels each question separately.
func several(t testing.TB, r Approver) error {
	a, _ := r.New(t)
	var stopped [3]chan error
	for n := range stopped {
		stopped[n] = make(chan error, 1)
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			stopped[n] <- r.denied(ctx, a, question(n), func() {
				cancel([]error{gate.ErrWithdrawn, fmt.Errorf("%w: the rules changed and deny it", gate.ErrResolved), gate.ErrClosed}[n])
			}, fmt.Sprintf("question %d of several", n+1))
		}()
	}
	var errs []error
	for _, err := range stopped {
		errs = append(errs, <-err)
	}
	return errors.Join(errs...)
}

func deadline(t testing.TB, r Approver) error {
	a, _ := r.New(t)
	q := question(0)
	q.Deadline = time.Now().Add(200 * time.Millisecond)
	ctx, cancel := context.WithDeadline(t.Context(), q.Deadline)
	defer cancel()
	return r.denied(ctx, a, q, func() {}, "past the deadline")
}

func leaves(t testing.TB, r Approver) error {
	a, person := r.New(t)
	q := question(0)
	res, err := r.ask(t.Context(), a, q, person.Leave)
	if err == nil && res.allows(q) {
		err = errors.New("a hang-up allowed the call")
	}
	return err
}

// reads checks an Approver whose person is a Reader. It does nothing for other Approvers.
func reads(t testing.TB, r Approver) error {
	q := long()
	for _, hurries := range []bool{true, false} {
		a, person := r.New(t)
		reader, ok := person.(Reader)
		if !ok {
			return nil
		}
		want := gate.AllowOnce
		res, err := r.ask(t.Context(), a, q, func() {
			if hurries {
				reader.Hurry()
				want = gate.DenyOnce
			} else {
				reader.Read()
			}
			reader.Say(want)
		})
		if err != nil {
			return err
		}
		if res.err != nil || res.Reply != want {
			return errors.Join(fmt.Errorf("hurried: %v, then said %s; got %s", hurries, want, res.Reply), res.err)
		}
	}
	return nil
}

// long returns a question that is too long for one window.
func long() gate.Question {
	q := question(0)
	var b strings.Builder
	for n := range 100 {
		fmt.Fprintf(&b, `,"edit%d":"value"`, n)
	}
	c := &q.Calls[0]
	c.Args = fmt.Appendf(nil, `{"path":"/tmp/0"%s,"last":"the end"}`, b.String())
	q.Digest = sha256.Sum256(c.Args)
	return q
}

func survives(t testing.TB, r Approver) error {
	hostile := "\x1b]52;c;eA==\a\x1b[2J\u202e\u200b\x00\r\n" + strings.Repeat("a", 1<<16) + "\xff"
	odd := map[string]gate.Question{
		"nothing":           {},
		"a zero call":       {Calls: make([]policy.Call, 1)},
		"many calls":        {Calls: make([]policy.Call, 500)},
		"arguments no JSON": {Calls: []policy.Call{{Names: []string{"x"}, Args: []byte(`{"a":`)}}},
		"hostile text": {
			Calls: []policy.Call{{Server: hostile, Method: hostile, Names: []string{hostile}, Args: []byte(`{"` + hostile + `":1}`)}},
			Rule:  policy.Rule{Description: hostile},
		},
	}
	for name, q := range odd {
		a, _ := r.New(t)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		err := r.denied(ctx, a, q, func() {}, name)
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

// denied checks that Ask returns an error, or an answer that does not let the call through. The
// parameter when describes the situation for the error text.
func (r Approver) denied(ctx context.Context, a gate.Approver, q gate.Question, meanwhile func(), when string) error {
	res, err := r.ask(ctx, a, q, meanwhile)
	if err == nil && res.allows(q) {
		err = errors.New("the call was allowed")
	}
	if err == nil && ctx.Err() != nil && res.err == nil && !res.Reply.Allows() && len(q.Calls) > 0 {
		err = errors.New("a deny was made up: nobody said it, so it must be an error")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", when, err)
	}
	return nil
}
