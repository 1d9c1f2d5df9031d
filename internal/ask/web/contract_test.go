package web

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
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

// onThePage is a person with an open page.
type onThePage struct {
	st *site
	sm *stream
	q  *row // in hand; nil: the next that comes
}

// first is the first question that comes into sight; nil when none does.
func (p *onThePage) first() *row {
	for e := range p.sm.events {
		var v pendingEvent
		if e.name == "pending" && json.Unmarshal([]byte(e.data), &v) == nil && len(v.Added) > 0 {
			return v.Added[0]
		}
	}
	return nil
}

func (p *onThePage) Say(r gate.Reply) {
	q := p.q
	if p.q = nil; q == nil {
		q = p.first()
	}
	status, text := p.post(q, r, true)
	if status != http.StatusOK && status != 0 && !strings.Contains(text, "Too late") {
		p.st.t.Errorf("%d %s", status, text)
	}
}

var _ gatetest.Reader = (*onThePage)(nil)

func (p *onThePage) Hurry() {
	p.q = p.first()
	if status, text := p.post(p.q, gate.AllowOnce, false); status != http.StatusConflict || !strings.Contains(text, "to its end") {
		p.st.t.Errorf("%d %s", status, text)
	}
}

func (*onThePage) Read() {} // Say tells that the page has shown the end

// post answers a question that has been opened; the status is 0 when it is over.
func (p *onThePage) post(q *row, r gate.Reply, read bool) (status int, said string) {
	if q == nil {
		return 0, ""
	}
	words := map[gate.Reply]string{gate.DenyOnce: "deny", gate.AllowOnce: "allow", gate.AllowSession: "session", gate.AllowAlways: "always", gate.DenyAlways: "never"}
	if resp, err := p.st.client.Do(p.st.request("GET", requestPath+q.ID, "", nil)); err == nil {
		resp.Body.Close()
	}
	body, err := json.Marshal(answerBody{ID: q.ID, Digest: q.Digest, Reply: words[r], Scope: "exact", Confirmed: true, Read: read})
	if err != nil {
		p.st.t.Error(err)
		return 0, ""
	}
	resp, err := p.st.client.Do(p.st.request("POST", "/answer", string(body), nil))
	if err != nil {
		return 0, "" // the test is over
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text)
}

func (p *onThePage) Leave() {
	p.first()
	p.sm.close()
}

// The chain, the queue and the page together are a channel like any other.
func TestThePageKeepsTheContract(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	gatetest.Run(t, gatetest.Approver{
		New:     func(t testing.TB) (gate.Approver, gatetest.Person) { return pageAndLadder(t) },
		Replies: []gate.Reply{gate.DenyOnce, gate.AllowOnce, gate.AllowSession, gate.AllowAlways, gate.DenyAlways},
	})
}

func pageAndLadder(t testing.TB) (gate.Approver, gatetest.Person) {
	dir := t.TempDir()
	q, err := queue.Open(dir, queue.Options{Patience: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Close() })
	st := newSite(t, func(o *Options) {
		o.Queue = q
		o.AddAnswerer = func() (io.Closer, error) { return q.AddAnswerer(Channel) }
	}).enter()
	sm := st.open()
	sm.next("pending")
	proxy, err := q.Attach(queue.Session{ID: "contract", Server: "files"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	channel := ask.NewQueueChannel(Channel, q.Answerers)
	channel.Every = 50 * time.Millisecond
	l := ask.NewChain(ask.ChainOptions{
		Channels: []ask.Channel{channel}, RuleWriter: pen{},
		Queue: ask.NewQueueClient(func() (ask.Enqueuer, error) { return ask.NewEnqueuer(proxy), nil }),
	})
	t.Cleanup(l.Close)
	return l, &onThePage{st: st, sm: sm}
}
