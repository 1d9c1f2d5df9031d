package proxy

import (
	"bytes"
	"context"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/policy"
	"github.com/tidwall/gjson"
)

// notification is a notification that is on its way to the other side.
type notification struct {
	rc     *receiver
	burst  uint64
	x      gate.Exchange
	inputs mcp.Inputs // input requests to the client that the notification holds in a task's state
}

// handleNotification adds a notification to the group (receiver.group). It drops a notification
// about a request that is not in flight.
func (rc *receiver) handleNotification(ctx context.Context, f *frame.Frame) {
	n := &notification{rc: rc, burst: rc.burst, x: gate.Exchange{Raw: f.Raw}}
	n.x.Out = n
	rc.describeFrame(&n.x.Event, f, nil)
	refusal := n.readFrame(f)
	if refusal != nil {
		rc.handleUnreadable(f.Raw, refusal)
		return
	}
	if f.Method == cancelledMethod || rc.responses {
		rc.judgeGroup(ctx) // the group is judged first, because the request that the notification names may have come in the same read
	}
	if why := n.checkReference(f); why != "" {
		if why != withdrawnCall { // the gate itself records a withdrawn call
			rc.recordDrop(&event.Event{Code: "not_in_flight", Reason: why, Method: f.Method, Bytes: len(f.Raw)})
		}
		return
	}
	rc.enqueueExchange(ctx, &n.x, false)
}

// readFrame finds the calls that the rules judge in a notification.
func (n *notification) readFrame(f *frame.Frame) *frame.Refusal {
	rc := n.rc
	m, refusal := mcp.Read(f, rc.from, rc.s.o.Name)
	if refusal != nil {
		return refusal
	}
	n.x.Calls = rc.attachTasks(&n.x, rc.oppositeDirection(), &m, m.Calls)
	if rc.from == mcp.ServerToClient {
		n.x.Unasked, n.x.Answered = mayCarryText(f), n.x.Work
		if n.inputs, refusal = mcp.InputCalls(f, rc.s.o.Name); refusal != nil {
			return refusal
		}
		if len(n.inputs.Calls) > 0 && !rc.s.table.inputs.KnowsInputs(n.inputs) {
			n.x.Calls = append(n.x.Calls, n.inputs.Calls...)
		}
	}
	if len(n.x.Calls) > 0 {
		n.x.Event.Subject, n.x.Event.Names = n.x.Calls[0].Subject.RuleKey(), callNames(n.x.Calls)
	}
	return nil
}

// mayCarryText reports whether a notification may hold text for a reader. A list_changed or
// cancelled notification may hold text only if it has other members than ids. Every other
// notification may hold text.
func mayCarryText(f *frame.Frame) bool {
	switch f.Method {
	case cancelledMethod, "notifications/tools/list_changed", "notifications/prompts/list_changed", "notifications/resources/list_changed":
		return carriesMore(gjson.ParseBytes(f.Params), "")
	}
	return true
}

// saysMore reports whether a server's request holds text that the rules about calls do not see.
// Requests for sampling and elicitation have no such text, because these rules judge all their
// text.
func (req *request) saysMore(f *frame.Frame) bool {
	m := req.message.Method
	judged := m != nil && (m.Subject == policy.SamplingSubject || m.Subject == policy.ElicitationSubject)
	return !judged && carriesMore(gjson.ParseBytes(f.Params), "")
}

// carriesMore reports whether params has other members than ids and tokens. The parameter within is
// the path of params, such as "_meta.".
func carriesMore(params gjson.Result, within string) (more bool) {
	params.ForEach(func(name, value gjson.Result) bool {
		switch within + name.String() {
		case "requestId", "_meta.io.modelcontextprotocol/subscriptionId", "_meta.progressToken":
		case "_meta":
			more = !value.IsObject() || carriesMore(value, "_meta.")
		default:
			more = true
		}
		return !more
	})
	return more
}

// Forward sends the notification to the other side.
func (n *notification) Forward(x *gate.Exchange) error {
	n.rc.s.table.inputs.RememberInputs(n.inputs)
	if n.rc.from == mcp.ClientToServer {
		n.rc.s.table.addNotice(x.Event.Method, n.rc.scope)
	}
	return n.rc.sendLine(n.burst, x.Raw)
}

// Refuse does nothing, because a notification has no answer and the gate has recorded the decision.
func (n *notification) Refuse(*gate.Exchange, gate.Verdict) {}

// Waiting does nothing, because no caller waits for a notification.
func (n *notification) Waiting(*gate.Exchange, time.Duration) {}

const (
	cancelledMethod = "notifications/cancelled"
	progressMethod  = "notifications/progress"

	withdrawnCall = "the call was withdrawn"
)

// checkReference checks whether the other side still knows the request in a notification. If not,
// it returns the reason why the notification must be dropped. Otherwise it returns "". It also
// enters a cancellation into the proxy's own table.
func (n *notification) checkReference(f *frame.Frame) (why string) {
	rc := n.rc
	switch f.Method {
	case progressMethod:
		token := paramToken(f, "progressToken")
		to, ok := rc.s.table.progressToken(rc.oppositeDirection(), rc.scopedKey(token))
		if !ok {
			return "progress for no request in flight"
		}
		n.replaceToken(f, token, to)
	case cancelledMethod:
		id := paramToken(f, "requestId")
		to := rc.s.table.forwardedID(rc.from, rc.scopedKey(id))
		if why := rc.cancelCall(rc.scopedKey(id)); why != "" {
			return why
		}
		n.replaceToken(f, id, to)
	default:
		return rc.checkSubscription(f)
	}
	return ""
}

// paramToken returns the JSON token of a member of params, or nil if there is no such member.
func paramToken(f *frame.Frame, name string) []byte {
	v := gjson.GetBytes(f.Params, name)
	if !v.Exists() {
		return nil
	}
	return f.Params[v.Index : v.Index+len(v.Raw)]
}

// replaceToken replaces the token in the notification by the token `to`, which the other side
// knows. With a nil `to` it changes nothing.
func (n *notification) replaceToken(f *frame.Frame, token, to []byte) {
	if to != nil {
		n.x.Raw = frame.SplicePart(f.Raw, token, to)
	}
}

// cancelCall withdraws a call that has not been forwarded, or marks a forwarded call as cancelled.
// It runs on the reading goroutine, so it never waits for a person.
func (rc *receiver) cancelCall(key string) (why string) {
	t := &rc.s.table
	t.withdrawing.Add(1)
	defer t.withdrawing.Add(-1)
	// The call may be forwarded or answered between withdrawRequest and Withdraw. Then the next
	// round sees its new state.
	for range 3 {
		req, waiting, st := t.withdrawRequest(rc.from, key)
		switch {
		case req == nil && t.wasAnswered(rc.from, key):
			return "" // the answer was already on its way, so the other side will ignore the cancellation
		case req == nil && rc.from == mcp.ServerToClient && t.cancelRequest(mcp.ClientToServer, key):
			return "" // a server may cancel a subscription by the id of the client's request (MCP 2026-07-28)
		case req == nil:
			return "cancels a request that was not forwarded"
		case st == sent || st == cancelled:
			t.cancelRequest(rc.from, key)
			return ""
		case rc.s.o.Gate.Withdraw(waiting):
			return withdrawnCall
		}
	}
	return "cancels a request that was not forwarded"
}

// checkSubscription returns the reason why a notification of a subscription must be dropped, or "".
// Since version 2026-07-28 such a notification has the id of the request that opened the
// subscription.
func (rc *receiver) checkSubscription(f *frame.Frame) (why string) {
	if rc.from != mcp.ServerToClient || !bytes.Contains(f.Params, []byte("subscriptionId")) {
		return ""
	}
	id := gjson.GetBytes(f.Params, `_meta.io\.modelcontextprotocol/subscriptionId`)
	if !id.Exists() || rc.s.table.isOpen(mcp.ClientToServer, rc.scopedKey([]byte(id.Raw))) {
		return ""
	}
	return "belongs to no subscription in flight"
}
