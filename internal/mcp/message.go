package mcp

import (
	"strings"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy"
)

// Message is the meaning of one frame. Its slices alias the frame's.
type Message struct {
	Method *Method // the row of the method table; nil for a response or a method of no version
	Class  Class

	// Calls are the calls that the rules judge; the strictest decision wins. Without calls, the
	// message is only recorded.
	Calls []policy.Call

	ProgressToken  []byte // JSON token of params._meta.progressToken; nil when missing
	Cancels        []byte // JSON id token that a notifications/cancelled names; nil otherwise
	InputResponses []byte // params.inputResponses, for Asked.AnswerCalls; nil when missing
	RequestState   []byte // JSON token of params.requestState; nil when it is not a string

	// Tasks are the handles of the tasks that a request or a notification concerns. The calls that
	// created the tasks decide what the message may do.
	Tasks []string

	// Modern means that the frame belongs to the era of 2026-07-28, in which results have a
	// resultType. It is a property of each frame, not of a connection.
	Modern bool

	room singleCall // memory for the first of Calls
}

// IsInitialize reports whether this is the request whose answer fixes a legacy session's version
// (see NegotiatedVersion).
func (m *Message) IsInitialize() bool { return m.Method != nil && m.Method.Name == "initialize" }

// The codes of the refusals that this package adds to internal/wire/frame's. They never change
// their meaning.
const (
	CodeDirection = "direction"        // this side does not send this method
	CodeKind      = "kind"             // a request without an id, a notification with one
	CodeDisguised = "method_disguised" // not a protocol method, but a lenient reader reads it as one
	CodeHidden    = "method_hidden"    // control or invisible characters in the method
	CodeLong      = "method_long"
	CodeRequests  = "input_requests"  // inputRequests have the wrong shape
	CodeResponses = "input_responses" // inputResponses have the wrong shape
)

const reasonFolded = "a member differs from one of the protocol's in case only"

// singleCall holds a call and its only name.
type singleCall struct {
	calls [1]policy.Call
	names [1]string
}

// Read interprets a request, notification or response that was sent in direction d. server is the
// server's name in the client's configuration. A refusal means that the frame must not be
// forwarded. A shape that only makes a judged call invalid is reported in policy.Call.Malformed
// instead, so that the call is denied and recorded like any other. The elements of a batch are read
// one by one.
func Read(f *frame.Frame, d Direction, server string) (Message, *frame.Refusal) {
	m := &Message{}
	if r := m.ReadFrame(f, d, server); r != nil {
		return Message{}, r
	}
	return *m, nil
}

// ReadFrame does the work of Read in m, which must be zero; m holds the first of its Calls.
func (m *Message) ReadFrame(f *frame.Frame, d Direction, server string) *frame.Refusal {
	if d != ClientToServer && d != ServerToClient {
		return refuseFrame(f, CodeDirection, "nobody sent this message")
	}
	m.Class = Pass
	switch f.Kind {
	case frame.Response:
		return nil
	case frame.Request, frame.Notification:
	default:
		return refuseFrame(f, CodeKind, "not a request, a notification or a response")
	}
	m.Method = methodNamed(f.Method)
	if r := refusesMethod(f, m.Method, d); r != nil {
		return r
	}
	fs := readFields(jsonscan.ValueOf(f.Params), &f.Index)
	if fs.near != "" && (m.Method != nil || foldsTo(fs.near, fieldNames[fInputResponses])) {
		return refuseFrame(f, frame.CodeFolded, reasonFolded)
	}
	if m.Method == nil {
		if f.Kind == frame.Request {
			m.Calls = m.room.setCall(policy.MethodSubject, f.Method, server)
			fs.readExtra(none, &m.Calls[0])
		}
	} else if r := m.readCalls(f, &fs, server); r != nil {
		return r
	} else {
		m.readTasks(&fs)
	}
	m.readEnvelope(f, &fs)
	if m.Modern && m.Method != nil && m.Method.In&(V20260728|Extension) == 0 && m.Method.params == oneURI && fs.at[fURI] == "" {
		// This version has dropped the method, and no reader could find a resource in the params:
		// the server itself reports that the method is gone.
		m.Class, m.Calls = Pass, m.room.setCall(policy.MethodSubject, m.Method.Name, server)
		fs.readExtra(none, &m.Calls[0])
	}
	return nil
}

// refusesMethod returns the reason why a frame with this method must not be forwarded in this
// direction and form, whatever the rules are.
func refusesMethod(f *frame.Frame, row *Method, d Direction) *frame.Refusal {
	switch {
	case row == nil:
		if len(f.Method) > longestMethod {
			return refuseFrame(f, CodeLong, "the method is longer than any method is")
		}
		if nearMethod(f.Method) {
			return refuseFrame(f, CodeDisguised, "the method becomes one of the protocol's when trimmed, folded or cleaned")
		}
		if hasHidden(f.Method) {
			return refuseFrame(f, CodeHidden, "the method holds control or invisible characters")
		}
		if f.Kind == frame.Request && strings.HasPrefix(f.Method, "notifications/") {
			return refuseFrame(f, CodeKind, "a notification does not carry an id")
		}
	case row.Notification && f.Kind == frame.Request:
		return refuseFrame(f, CodeKind, "a notification does not carry an id")
	case !row.Notification && f.Kind == frame.Notification:
		return refuseFrame(f, CodeKind, "this method is a request and must carry an id")
	case row.From&d == 0 && !row.Notification:
		return refuseFrame(f, CodeDirection, "this method is not sent by this side")
	}
	return nil
}

// readCalls fills in the calls of a method in the table.
func (m *Message) readCalls(f *frame.Frame, fs *fields, server string) *frame.Refusal {
	m.Class = m.Method.Class
	if m.Method.Subject == policy.NoSubject {
		return nil
	}
	c := &m.room
	m.Calls = c.setCall(m.Method.Subject, m.Method.Name, server)
	fs.readExtra(m.Method.params, &c.calls[0])
	if m.Method.params == none {
		return nil
	}
	c.calls[0].Names = c.names[:0]
	fs.fillCall(m.Method.params, &c.calls[0])
	if m.Method.params == subscriptions && len(c.calls[0].Names) == 0 && c.calls[0].Malformed == "" {
		m.Class, m.Calls = Pass, nil // a subscription to no resource reads nothing
	}
	if r := checkAmbiguous(fs, m.Method, f.Unambiguous); r != nil {
		return refuseFrame(f, r.Code, r.Reason)
	}
	return nil
}

// setCall sets and returns a call whose only name is its method.
func (c *singleCall) setCall(s policy.Subject, method, server string) []policy.Call {
	c.names[0] = method
	c.calls[0] = policy.Call{Server: server, Method: method, Subject: s, Names: c.names[:]}
	return c.calls[:]
}

// readEnvelope fills in what package proxy needs besides the calls.
func (m *Message) readEnvelope(f *frame.Frame, fs *fields) {
	m.InputResponses = fs.at[fInputResponses].Bytes()
	if state := fs.at[fRequestState]; state.Kind() == jsonscan.String {
		m.RequestState = state.Bytes()
	}
	if id := fs.at[fRequestID]; f.Method == "notifications/cancelled" && IsToken(id) {
		m.Cancels = id.Bytes()
	}
	if fs.at[fMeta] != "" {
		meta := fs.readMeta()
		m.ProgressToken, m.Modern = meta.progressToken, meta.modern
	}
}

// NegotiatedVersion returns the protocol version in an initialize result, "" when it names none.
// Only BatchVersion allows arrays.
func NegotiatedVersion(result []byte) string {
	return jsonscan.ValueOf(result).Member("protocolVersion").Text()
}

// refuseFrame returns the refusal of a frame that internal/wire/frame admitted.
func refuseFrame(f *frame.Frame, code, reason string) *frame.Refusal {
	return &frame.Refusal{Code: code, Reason: reason, ID: f.ID, Request: f.Kind == frame.Request}
}
