package gatetest

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
)

// simplest is the simplest right Approver, and its person; bend makes it wrong.
type simplest struct {
	says chan gate.Reply
	bend func(ctx context.Context, q gate.Question, a gate.Answer, err error) (gate.Answer, error)
}

func (d *simplest) Say(r gate.Reply) { d.says <- r }
func (d *simplest) Leave()           { close(d.says) }

func (d *simplest) Ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
	a, err := d.ask(ctx, q)
	if d.bend != nil {
		return d.bend(ctx, q, a, err)
	}
	return a, err
}

func (d *simplest) ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
	if ctx.Err() != nil {
		return gate.Answer{}, ctx.Err()
	}
	select {
	case r, ok := <-d.says:
		if !ok {
			return gate.Answer{}, io.EOF
		}
		return gate.Answer{Reply: r, Digest: q.Digest, Channel: "simplest"}, nil
	case <-ctx.Done():
		return gate.Answer{}, ctx.Err()
	}
}

type bend = func(ctx context.Context, q gate.Question, a gate.Answer, err error) (gate.Answer, error)

func approver(b bend) Approver {
	return Approver{
		New: func(testing.TB) (gate.Approver, Person) {
			d := &simplest{says: make(chan gate.Reply, 1), bend: b}
			return d, d
		},
		Replies: []gate.Reply{gate.DenyOnce, gate.AllowOnce, gate.AllowSession, gate.AllowAlways, gate.DenyAlways},
		Prompt:  time.Second,
	}
}

func TestARightApproverPasses(t *testing.T) {
	slow.Test(t)
	Run(t, approver(nil))
}

// hasty lets itself be hurried.
type hasty struct{ *simplest }

func (d hasty) Hurry() { d.Say(gate.AllowOnce) }
func (d hasty) Read()  {}

func TestAnApproverThatCanBeHurriedFails(t *testing.T) {
	r := approver(nil)
	r.New = func(testing.TB) (gate.Approver, Person) {
		d := &simplest{says: make(chan gate.Reply, 1)}
		return d, hasty{d}
	}
	if reads(t, r) == nil {
		t.Error("nobody noticed")
	}
}

func TestAWrongApproverFails(t *testing.T) {
	slow.Test(t)
	allow := func(q gate.Question) gate.Answer {
		return gate.Answer{Reply: gate.AllowOnce, Digest: q.Digest, Channel: "simplest"}
	}
	wrong := map[string]bend{
		"allows everything": func(_ context.Context, q gate.Question, _ gate.Answer, _ error) (gate.Answer, error) {
			return allow(q), nil
		},
		"allows on a hang-up": func(_ context.Context, q gate.Question, a gate.Answer, err error) (gate.Answer, error) {
			if errors.Is(err, io.EOF) {
				return allow(q), nil
			}
			return a, err
		},
		"allows at the deadline": func(_ context.Context, q gate.Question, a gate.Answer, err error) (gate.Answer, error) {
			if errors.Is(err, context.DeadlineExceeded) {
				return allow(q), nil
			}
			return a, err
		},
		"allows when told why": func(ctx context.Context, q gate.Question, a gate.Answer, err error) (gate.Answer, error) {
			if errors.Is(context.Cause(ctx), gate.ErrResolved) {
				return allow(q), nil
			}
			return a, err
		},
		"makes up a deny for good": func(ctx context.Context, q gate.Question, a gate.Answer, err error) (gate.Answer, error) {
			if ctx.Err() != nil {
				return gate.Answer{Reply: gate.DenyAlways, Digest: q.Digest, Channel: "simplest"}, nil
			}
			return a, err
		},
		"makes up a deny": func(_ context.Context, q gate.Question, a gate.Answer, err error) (gate.Answer, error) {
			if errors.Is(err, context.Canceled) {
				return gate.Answer{Digest: q.Digest, Channel: "simplest"}, nil
			}
			return a, err
		},
		"answers for another question": func(_ context.Context, _ gate.Question, a gate.Answer, err error) (gate.Answer, error) {
			a.Digest[0]++
			return a, err
		},
		"hears another answer": func(_ context.Context, _ gate.Question, a gate.Answer, err error) (gate.Answer, error) {
			a.Reply ^= 1
			return a, err
		},
		"falls over what it does not know": func(_ context.Context, q gate.Question, a gate.Answer, err error) (gate.Answer, error) {
			return a, errors.Join(err, errors.New(q.Calls[0].Names[0])) // no call, no name
		},
		"does not stop": func(ctx context.Context, _ gate.Question, a gate.Answer, err error) (gate.Answer, error) {
			if ctx.Err() != nil {
				time.Sleep(3 * time.Second)
			}
			return a, err
		},
	}
	for name, b := range wrong {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, c := range checks {
				if c.run(t, approver(b)) != nil {
					return
				}
			}
			t.Error("no check noticed")
		})
	}
}
