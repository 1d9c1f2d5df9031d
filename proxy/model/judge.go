package model

import (
	"context"
	"errors"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/internal/wire/modelapi"
	"github.com/clawai/clawai/policy"
)

// outcome is the gate's Outlet for one exchange. It only stores the decision. The caller sends the
// bytes later, when all calls that wait together are decided.
type outcome struct {
	called func() error // adds the labels of a call before the call goes to the client; nil for a result
	done   chan struct{}
	sent   []byte
	denied *gate.Verdict
}

func newOutcome(called func() error) *outcome {
	return &outcome{called: called, done: make(chan struct{})}
}

// Forward stores the allowed bytes and adds the labels of a call.
func (o *outcome) Forward(x *gate.Exchange) error {
	defer close(o.done)
	o.sent = x.Raw
	if o.called == nil {
		return nil
	}
	if err := o.called(); err != nil {
		o.denied = &gate.Verdict{Stage: gate.StageLabels, Code: gate.CodeLabels, Reason: "what the session has seen with it could not be kept; tell the owner"}
		return err
	}
	return nil
}

// Refuse stores the verdict.
func (o *outcome) Refuse(_ *gate.Exchange, v gate.Verdict) {
	defer close(o.done)
	o.denied = &v
}

// Waiting does nothing, because heldBody keeps the client alive.
func (o *outcome) Waiting(*gate.Exchange, time.Duration) {}

// await waits for the decision. It returns the verdict of a refusal, or nil if the gate allows.
func (o *outcome) await(ctx context.Context) (*gate.Verdict, error) {
	select {
	case <-o.done:
		return o.denied, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

var errGone = errors.New("the client has hung up")

// judgeCalls passes calls to the gate. For each refused call it returns the name that takes the
// place of the tool's name. raw holds the bytes of the calls. It returns when all calls are
// decided.
func (t *turn) judgeCalls(ctx context.Context, calls []*modelapi.Call, raw []byte) (renamed map[*modelapi.Call]string, err error) {
	var held []heldCall
	for _, c := range calls {
		m := t.makeCall(c)
		if m.cover != Uncovered {
			t.keepCall(c.ID, m)
			continue
		}
		held = append(held, heldCall{asked: c, made: m})
	}
	if len(held) == 0 {
		return nil, nil
	}
	return t.judgeHeld(ctx, held, raw)
}

// heldCall is a call that waits for the gate.
type heldCall struct {
	asked *modelapi.Call
	made  madeCall
	out   *outcome
	x     *gate.Exchange
}

// judgeHeld passes calls to the gate. No other transport judges these calls.
func (t *turn) judgeHeld(ctx context.Context, held []heldCall, raw []byte) (renamed map[*modelapi.Call]string, err error) {
	var xs []*gate.Exchange
	for i := range held {
		h := &held[i]
		h.out = newOutcome(func() error { return t.addLabels(h.made.calls) })
		h.x = &gate.Exchange{Raw: raw, Calls: h.made.calls, Event: t.newCallEvent(h.asked, &h.made.calls[0]), Out: h.out}
		xs = append(xs, h.x)
	}
	// The end of ctx must not end the questions. If the client hangs up, Withdraw below ends them,
	// so that the record always has this reason.
	t.o.Gate.Do(context.WithoutCancel(ctx), xs...)
	renamed = map[*modelapi.Call]string{}
	for i := range held {
		h := &held[i]
		v, err := h.out.await(ctx)
		if err != nil {
			for _, x := range xs[i:] {
				t.o.Gate.Withdraw(x)
			}
			return nil, errGone
		}
		h.made.record = h.x.Event.Record
		t.keepCall(h.asked.ID, h.made)
		if v == nil || !t.o.Judge {
			continue
		}
		d := v.NewDenial(h.made.calls[0])
		name := newDeniedName()
		t.keepDenial(name, denial{id: h.asked.ID, words: t.o.Gate.MaskDenial(d).DescribeDenial()})
		renamed[h.asked] = name
	}
	return renamed, nil
}

// addLabels adds the labels of the calls' results before the calls run.
func (t *turn) addLabels(cs []policy.Call) error {
	if t.o.Labels == nil {
		return nil
	}
	return t.o.Labels.Called(cs)
}

// newCallEvent returns the event of a call for the record.
func (t *turn) newCallEvent(asked *modelapi.Call, c *policy.Call) event.Event {
	ev := event.Event{
		Kind: event.Decision, Server: c.Server, Direction: "client", Method: c.Method, Subject: c.Subject.RuleKey(),
		Names: c.Names, Args: c.Args, Facts: c.Facts, Detail: t.describeTurn(),
	}
	if asked.ID != "" {
		ev.ID = escape.QuoteText(asked.ID)
	}
	return ev
}

// nameOf returns the name that takes the place of a refused call's name, as JSON. place is the
// tool's name in the reply. nameOf stores the tool's name, so that it can be restored in a later
// request.
func (t *turn) nameOf(name string, place jsonscan.Value) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if d, known := t.denied.getEntry(name); known && d.name == nil {
		d.name = []byte(string(place))
		t.denied.putEntry(name, d)
	}
	return escape.QuoteText(name)
}
