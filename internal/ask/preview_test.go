package ask

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/clawai/clawai/internal/gate"
)

// A question gets a preview if its rule wants one, before anybody is asked, in the queue and in the
// channel. A question without such a rule, and one about an answer, are never tried.
func TestPreviewsGoWithQuestions(t *testing.T) {
	for _, c := range []struct {
		name         string
		wants, reply bool
		tried        int32
	}{{"wanted", true, false, 1}, {"not wanted", false, false, 0}, {"an answer", true, true, 0}} {
		t.Run(c.name, func(t *testing.T) {
			s, channel := newMemQueue(), newFakeChannel("terminal")
			var tried atomic.Int32
			l := NewChain(ChainOptions{Channels: []Channel{channel}, Queue: s.line(), Preview: func(context.Context, gate.Question) []byte {
				tried.Add(1)
				return []byte(`{"code":3}`)
			}})
			defer l.Close()
			k := &asking{q: aQuestion(), result: make(chan answered, 1)}
			k.q.Rule.Preview, k.q.Reply = c.wants, c.reply
			go func() {
				a, err := l.Ask(context.Background(), k.q)
				k.result <- answered{a, err}
			}()
			q, put := <-channel.asked, <-s.came
			want := ""
			if c.tried > 0 {
				want = `{"code":3}`
			}
			if string(q.Preview) != want || string(put.request.Preview) != want || tried.Load() != c.tried {
				t.Errorf("the channel got %s, the queue %s; tried %d times", q.Preview, put.request.Preview, tried.Load())
			}
			channel.Say(gate.DenyOnce)
			k.wants(t, gate.DenyOnce, "terminal")
		})
	}
}

// A call that is withdrawn while its preview runs asks nobody.
func TestAQuestionWithdrawnDuringItsPreview(t *testing.T) {
	channel := newFakeChannel("terminal")
	begun := make(chan struct{})
	l := NewChain(ChainOptions{Channels: []Channel{channel}, Preview: func(ctx context.Context, _ gate.Question) []byte {
		close(begun)
		<-ctx.Done()
		return nil
	}})
	defer l.Close()
	ctx, cancel := context.WithCancelCause(context.Background())
	q := aQuestion()
	q.Rule.Preview = true
	go func() {
		<-begun
		cancel(gate.ErrWithdrawn)
	}()
	if a, err := l.Ask(ctx, q); err == nil || a.Reply.Allows() || len(channel.asked) > 0 {
		t.Errorf("%+v, %v", a, err)
	}
}
