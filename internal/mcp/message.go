package mcp

import (
	"strings"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy"
)

// Message is the meaning of one frame. Its slices share the memory of the frame.
type Message struct {
	Method *Method // row of the method table; nil for a response and for a method that no version has
	Class  Class

	// Calls are the calls for the rules; the strictest decision wins. A message without calls is
	// only recorded.
	Calls []policy.Call

	ProgressToken  []byte // JSON token of params._meta.progressToken; nil if there is none
	Cancels        []byte // JSON token of the id in a notifications/cancelled; nil for other messages
	InputResponses []byte // params.inputResponses, for Asked.AnswerCalls; nil if there are none
	RequestState   []byte // JSON token of params.requestState; nil unless it is a string

	Traceparent string // params._meta.traceparent in the form of event.IsTraceparent; "" if there is none

	// Tasks are the ids of the tasks that a request or a notification is about. The rules judge the
	// message by the calls that became these tasks.
	Tasks []string

	// Modern means that the frame states version 2026-07-28 or later. In these versions results
	// have a resultType. Other frames of the same connection may have another value.
	Modern bool

	room singleCall // memory for the first of Calls
}

// IsInitialize reports whether this is an initialize request. Its answer sets the version of the
// session (see NegotiatedVersion).
func (m *Message) IsInitialize() bool { return m.Method != nil && m.Method.Name == "initialize" }

// The codes of this package's refusals, in addition to those of internal/wire/frame. Their meaning
// never changes.
const (
	CodeDirection = "direction"        // this side may not send this method
	CodeKind      = "kind"             // a request without an id, or a notification with an id
	CodeDisguised = "method_disguised" // not a protocol method, but a lenient reader would read it as one
	CodeHidden    = "method_hidden"    // the method has control or invisible characters
	CodeLong      = "method_long"
	CodeRequests  = "input_requests"  // inputRequests has the wrong form
	CodeResponses = "input_responses" // inputResponses has the wrong form
)

const reasonFolded = "a member differs from one of the protocol's in case only"

// singleCall holds a call with one name.
type singleCall struct {
	calls [1]policy.Call
	names [1]string
}

// Read interprets a request, notification or response that was sent in direction d. server is the
// server's name in the client's configuration. A refusal means that the frame must not be
// forwarded. If the frame may be forwarded, but the form of its params makes a call invalid,
// policy.Call.Malformed has the reason, so that the call is denied and recorded like any other.
// Read does not accept a batch: the caller reads its elements one by one.
func Read(f *frame.Frame, d Direction, server string) (Message, *frame.Refusal) {
	m := &Message{}
	if r := m.ReadFrame(f, d, server); r != nil {
		return Message{}, r
	}
	return *m, nil
}

// ReadFrame does the same as Read, but it fills m, which must be zero. m also holds the memory of
// the first of its Calls.
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
		// This version has no such method any more, and no reader could find a resource in the
		// params. So the message passes, and the server itself reports that the method does not
		// exist.
		m.Class, m.Calls = Pass, m.room.setCall(policy.MethodSubject, m.Method.Name, server)
		fs.readExtra(none, &m.Calls[0])
	}
	return nil
}

// refusesMethod returns the reason why a frame with this method must not be forwarded in this
// direction and form. The reason does not depend on the rules.
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

// readCalls sets the calls of a method in the table.
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
		m.Class, m.Calls = Pass, nil // a subscription without a resource reads nothing
	}
	if r := checkAmbiguous(fs, m.Method, f.Unambiguous); r != nil {
		return refuseFrame(f, r.Code, r.Reason)
	}
	return nil
}

// setCall sets a call whose only name is its method, and returns the call.
func (c *singleCall) setCall(s policy.Subject, method, server string) []policy.Call {
	c.names[0] = method
	c.calls[0] = policy.Call{Server: server, Method: method, Subject: s, Names: c.names[:]}
	return c.calls[:]
}

// readEnvelope sets the fields of m that package proxy needs. It does not set the calls.
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
		m.ProgressToken, m.Modern, m.Traceparent = meta.progressToken, meta.modern, meta.traceparent
	}
}

// NegotiatedVersion returns the protocol version in the result of initialize, or "". Only with
// BatchVersion are arrays allowed.
func NegotiatedVersion(result []byte) string {
	return jsonscan.ValueOf(result).Member("protocolVersion").Text()
}

// refuseFrame returns the refusal of a frame that internal/wire/frame admitted.
func refuseFrame(f *frame.Frame, code, reason string) *frame.Refusal {
	return &frame.Refusal{Code: code, Reason: reason, ID: f.ID, Request: f.Kind == frame.Request}
}
