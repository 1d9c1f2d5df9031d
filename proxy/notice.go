package proxy

import (
	"bytes"
	"context"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/proxy/frame"
	"github.com/clawai/clawai/proxy/mcp"
	"github.com/tidwall/gjson"
)

// notice is a notification on its way.
type notice struct {
	lane   *lane
	burst  *burst
	x      gate.Exchange
	inputs mcp.Inputs // what a task's state asks of the client
}

// notification puts a notification into the group, unless what it belongs to
// is not in flight.
func (l *lane) notification(ctx context.Context, f *frame.Frame) {
	n := &notice{lane: l, burst: l.burst, x: gate.Exchange{Raw: f.Raw}}
	n.x.Out = n
	l.describe(&n.x.Event, f, nil)
	refusal := n.read(f)
	if refusal != nil {
		l.unreadable(f.Raw, refusal)
		return
	}
	if f.Method == cancelledMethod || l.replies {
		l.judge(ctx) // what it is about may be in this very read
	}
	if why := n.loose(f); why != "" {
		if why != withdrawnCall { // which the gate has recorded
			l.dropped(&event.Event{Code: "not_in_flight", Reason: why, Method: f.Method, Bytes: len(f.Raw)})
		}
		return
	}
	l.enqueue(ctx, &n.x, false)
}

// read finds what the rules judge in a notification.
func (n *notice) read(f *frame.Frame) *frame.Refusal {
	l := n.lane
	m, refusal := mcp.Read(f, l.from, l.s.o.Name)
	if refusal != nil {
		return refusal
	}
	n.x.Calls = l.goesOn(&n.x, l.opposite(), &m, m.Calls)
	if l.from == mcp.ServerToClient {
		if n.inputs, refusal = mcp.InputCalls(f, l.s.o.Name); refusal != nil {
			return refusal
		}
		if len(n.inputs.Calls) > 0 && !l.s.table.known(n.inputs) {
			n.x.Calls = append(n.x.Calls, n.inputs.Calls...)
		}
	}
	if len(n.x.Calls) > 0 {
		n.x.Event.Subject, n.x.Event.Names = n.x.Calls[0].Subject.Key(), names(n.x.Calls)
	}
	return nil
}

// Forward sends the notification on.
func (n *notice) Forward(x *gate.Exchange) error {
	n.lane.s.table.remember(n.inputs)
	return n.lane.send(n.burst, x.Raw)
}

// Refuse does nothing: a notification has no answer, and the gate has recorded
// the decision.
func (n *notice) Refuse(*gate.Exchange, gate.Verdict) {}

// Waiting does nothing: nobody waits for a notification.
func (n *notice) Waiting(*gate.Exchange, time.Duration) {}

const (
	cancelledMethod = "notifications/cancelled"
	progressMethod  = "notifications/progress"

	withdrawnCall = "the call was withdrawn"
)

// loose says why a notification about a request must not go on: the other side
// does not know, or no longer knows, the request. A cancellation is carried out
// here as far as it concerns the proxy.
func (n *notice) loose(f *frame.Frame) (why string) {
	l := n.lane
	switch f.Method {
	case progressMethod:
		token := member(f, "progressToken")
		to, ok := l.s.table.reports(l.opposite(), l.key(token))
		if !ok {
			return "progress for no request in flight"
		}
		n.rename(f, token, to)
	case cancelledMethod:
		id := member(f, "requestId")
		to := l.s.table.sentAs(l.from, l.key(id))
		if why := l.cancel(l.key(id)); why != "" {
			return why
		}
		n.rename(f, id, to)
	default:
		return l.unsubscribed(f)
	}
	return ""
}

// member is the JSON token of a member of params; nil when there is none.
func member(f *frame.Frame, name string) []byte {
	v := gjson.GetBytes(f.Params, name)
	if !v.Exists() {
		return nil
	}
	return f.Params[v.Index : v.Index+len(v.Raw)]
}

// rename gives the notification another token, the one its reader knows.
func (n *notice) rename(f *frame.Frame, token, to []byte) {
	if to != nil {
		n.x.Raw = frame.Splice(f.Raw, token, to)
	}
}

// cancel withdraws a call that has not been forwarded, or marks one that has.
// It runs on the reading goroutine and waits for no person.
func (l *lane) cancel(key string) (why string) {
	t := &l.s.table
	// One step of the call (forwarded, answered) may come in between.
	for range 3 {
		c, waiting, st := t.withdraw(l.from, key)
		switch {
		case c == nil && t.answered(l.from, key):
			return "" // the two crossed; the other side ignores it
		case c == nil && l.from == mcp.ServerToClient && t.cancel(mcp.ClientToServer, key):
			return "" // a server ends a subscription by its request's id (MCP 2026-07-28)
		case c == nil:
			return "cancels a request that was not forwarded"
		case st == sent || st == cancelled:
			t.cancel(l.from, key)
			return ""
		case l.s.o.Gate.Withdraw(waiting):
			return withdrawnCall
		}
	}
	return "cancels a request that was not forwarded"
}

// unsubscribed says why a notification of a subscription must not go on: since
// 2026-07-28 it names the request that opened the subscription.
func (l *lane) unsubscribed(f *frame.Frame) (why string) {
	if l.from != mcp.ServerToClient || !bytes.Contains(f.Params, []byte("subscriptionId")) {
		return ""
	}
	id := gjson.GetBytes(f.Params, `_meta.io\.modelcontextprotocol/subscriptionId`)
	if !id.Exists() || l.s.table.open(mcp.ClientToServer, l.key([]byte(id.Raw))) {
		return ""
	}
	return "belongs to no subscription in flight"
}
