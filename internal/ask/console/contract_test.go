package console

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/ask"
	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/gatetest"
	"github.com/clawai/clawai/internal/testing/slow"
)

// pen stands in for the writer of rules, which the proxy's side has.
type pen struct{}

func (pen) Offers(gate.Question) ([]view.Offer, string) {
	return []view.Offer{{Scope: "exact", Title: "this exact call", Allow: "[[rule]]\n", Deny: "[[rule]]\n"}}, ""
}

func (pen) Bound(context.Context, gate.Question, string) (gate.Bound, string, error) {
	return nil, "", errors.New("no answer reaches further here")
}

func (pen) Write(context.Context, gate.Question, string, gate.Reply) (string, error) {
	return "a rule was written", nil
}

// atDesk is a person at a console, in real time.
type atDesk struct {
	t     testing.TB
	glass *glass
	ended chan struct{}
	last  string // the id that was answered last
}

// Say answers the one request that waits, dangerous or not.
func (p *atDesk) Say(r gate.Reply) {
	p.sees(func(s string) bool {
		if strings.Contains(s, "waits no more") && !strings.Contains(s, "Waiting (0)") {
			p.press(down) // from one that was told to stop
		}
		if _, id, _ := strings.Cut(s, "\nrequest    "); strings.Contains(s, "a allow once") && id[:36] != p.last {
			p.last = id[:36]
			return true
		}
		return false
	})
	key := map[gate.Reply]string{gate.DenyOnce: "d", gate.AllowOnce: "a", gate.AllowSession: "s", gate.AllowAlways: "A", gate.DenyAlways: "D"}[r]
	p.press(key)
	if key == "d" {
		return
	}
	p.sees(func(s string) bool { return strings.Contains(s, "Esc go back") })
	p.press("y")
}

var _ gatetest.Reader = (*atDesk)(nil)

func (p *atDesk) Hurry() {
	p.shows("a allow once")
	p.press("a")
	p.shows("read on first: lines")
	p.press(end) // where Say finds the id
}

func (p *atDesk) Read() {
	p.shows("a allow once")
	p.press(end)
	p.shows("End show the rest")
}

func (p *atDesk) shows(text string) {
	p.sees(func(s string) bool { return strings.Contains(s, text) })
}

func (p *atDesk) Leave() {
	p.sees(func(s string) bool { return strings.Contains(s, "Waiting (1)") })
	p.press("q")
	<-p.ended
}

func (p *atDesk) press(key string) {
	select {
	case p.glass.keys <- key:
	case <-p.ended:
	}
}

func (p *atDesk) sees(want func(string) bool) {
	if !p.glass.Wait(10*time.Second, want) {
		p.t.Errorf("not in sight:\n%s", p.glass.Text())
	}
}

// The chain, the queue and the console together are a channel like any
// other.
func TestTheConsoleKeepsTheContract(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	gatetest.Run(t, gatetest.Approver{
		New:     consoleAndLadder,
		Replies: []gate.Reply{gate.DenyOnce, gate.AllowOnce, gate.AllowSession, gate.AllowAlways, gate.DenyAlways},
	})
}

func consoleAndLadder(t testing.TB) (gate.Approver, gatetest.Person) {
	q, err := queue.Open(t.TempDir(), queue.Options{Patience: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Close() })
	here, err := q.AddAnswerer(channel)
	if err != nil {
		t.Fatal(err)
	}
	p := &atDesk{t: t, glass: newGlass(100, 30), ended: make(chan struct{})}
	p.glass.Colors = true
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		defer close(p.ended)
		_, _ = Run(ctx, p.glass, Options{Queue: q, Color: true, Grace: 50 * time.Millisecond})
		_ = here.Close()
	}()
	t.Cleanup(func() {
		stop()
		<-p.ended
		if err := p.glass.Complaint(); err != nil {
			t.Error(err)
		}
	})
	proxy, err := q.Attach(queue.Session{ID: "contract", Server: "files"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	answerer := ask.NewQueueChannel(channel, q.Answerers)
	answerer.Every = 50 * time.Millisecond
	l := ask.NewChain(ask.ChainOptions{
		Channels: []ask.Channel{answerer}, RuleWriter: pen{},
		Queue: ask.NewQueueClient(func() (ask.Enqueuer, error) { return ask.NewEnqueuer(proxy), nil }),
	})
	t.Cleanup(l.Close)
	return l, p
}
