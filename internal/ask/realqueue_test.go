package ask

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/gatetest"
	"github.com/clawai/clawai/internal/testing/slow"
)

// clerk answers in a real queue, and attends it while there.
type clerk struct {
	t    testing.TB
	q    *queue.Queue
	here *queue.Answerer
}

func newClerk(t testing.TB) *clerk {
	t.Helper()
	q, err := queue.Open(t.TempDir(), queue.Options{Patience: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Close() })
	here, err := q.AddAnswerer("console")
	if err != nil {
		t.Fatal(err)
	}
	return &clerk{t, q, here}
}

// next waits for a request that nobody has answered.
func (c *clerk) next() string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for range c.q.Watch(ctx) {
		if pending, err := c.q.Pending(ctx); err == nil && len(pending) > 0 {
			return pending[0].ID
		}
	}
	return ""
}

func (c *clerk) Say(r gate.Reply) {
	if _, err := c.q.Decide(context.Background(), c.next(), queue.Answer{Reply: r, Scope: "exact", Channel: "console", By: "me"}); err != nil {
		c.t.Error(err)
	}
}

func (c *clerk) Leave() {
	c.next()
	if err := c.here.Close(); err != nil {
		c.t.Error(err)
	}
}

// chain is a proxy's, over the clerk's queue.
func (c *clerk) chain() *Chain {
	var side *queue.Proxy
	console := NewQueueChannel("console", c.q.Answerers)
	console.Every = 10 * time.Millisecond
	l := NewChain(ChainOptions{
		Channels: []Channel{console}, RuleWriter: &fakeKeeper{},
		Queue: NewQueueClient(func() (Enqueuer, error) {
			var err error
			side, err = c.q.Attach(queue.Session{ID: "clerk", Server: "files", PID: os.Getpid()})
			return NewEnqueuer(side), err
		}),
	})
	c.t.Cleanup(func() {
		l.Close()
		if side != nil {
			_ = side.Close()
		}
	})
	return l
}

func TestARealQueueKeepsTheContract(t *testing.T) {
	slow.Test(t)
	gatetest.Run(t, gatetest.Approver{
		New: func(t testing.TB) (gate.Approver, gatetest.Person) {
			c := newClerk(t)
			return c.chain(), c
		},
		Replies: []gate.Reply{gate.DenyOnce, gate.AllowOnce, gate.AllowSession, gate.AllowAlways, gate.DenyAlways},
	})
}

// Hundreds of questions at once and four who answer: each gets one answer, and it
// is what the queue holds.
func TestHundredsOfQuestions(t *testing.T) {
	slow.Test(t)
	c := newClerk(t)
	l := c.chain()
	l.o.Wait = true
	const n = 300
	asked := make([]*asking, n)
	for i := range asked {
		asked[i] = askOn(l)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var clerks sync.WaitGroup
	var mu sync.Mutex
	said := map[[32]byte]gate.Reply{}
	for i := range 4 {
		clerks.Go(func() {
			for range c.q.Watch(ctx) {
				pending, err := c.q.Pending(ctx)
				if err != nil {
					continue
				}
				for j := range pending {
					r := pending[(j+i*len(pending)/4)%len(pending)]
					reply := gate.Reply(j % 2)
					_, err := c.q.Decide(ctx, r.ID, queue.Answer{Reply: reply, Channel: "console", By: "me"})
					if err == nil {
						mu.Lock()
						said[r.Digest] = reply
						mu.Unlock()
					}
				}
			}
		})
	}
	results := make([]answered, n)
	for i, k := range asked {
		select {
		case results[i] = <-k.result:
		case <-time.After(time.Minute):
			t.Fatal("one has no answer")
		}
	}
	cancel()
	clerks.Wait()
	for i, r := range results {
		want, ok := said[asked[i].q.Digest]
		if r.err != nil || !ok || r.Reply != want || r.Digest != asked[i].q.Digest {
			t.Errorf("got %s, %v; %s was said", r.Reply, r.err, want)
		}
	}
}
