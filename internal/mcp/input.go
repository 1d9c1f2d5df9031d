package mcp

import (
	"crypto/sha256"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy"
)

// Inputs are input requests: requests to the client that a server puts into an answer or a
// notification. The slices have the same length.
type Inputs struct {
	Calls []policy.Call
	Keys  []string // the server's key for each request; the same key may occur again in a session

	digests [][sha256.Size]byte // SHA-256 of each request's bytes
}

// InputCalls returns the requests to the client in a server's response or notification. They may be
// in the member inputRequests of a result (MCP 2026-07-28 basic/mrtr) or of a task's state. A
// task's state is in the answer to tasks/get, in notifications/tasks (tasks extension), or in the
// task of a result. Requests may also be in the result or error of a finished task, and in the
// elicitations of the error -32042 (MCP 2025-11-25 client/elicitation).
//
// Each request is judged as if the server had sent it by itself. A request with a method that is
// not allowed there is malformed. If inputRequests has a wrong form, the frame is refused.
// resultType is not checked, because a client may not check it either.
func InputCalls(f *frame.Frame, server string) (Inputs, *frame.Refusal) {
	c := collector{server: server}
	switch f.Kind {
	case frame.Response:
		if f.Error != nil {
			c.collectFailure(jsonscan.ValueOf(f.Error))
		} else {
			c.collectState(jsonscan.ValueOf(f.Result), &f.Index, 2)
		}
	case frame.Notification:
		c.collectState(jsonscan.ValueOf(f.Params), &f.Index, 2)
	default: // Read handles a server's own requests
	}
	if c.why != "" {
		return Inputs{}, refuseFrame(f, CodeRequests, c.why)
	}
	return c.in, nil
}

// maxInputs is the maximum number of requests in one frame, and of answers in one retry.
const maxInputs = 256

// collector collects input requests. why is the first fault in them, or "".
type collector struct {
	server string
	in     Inputs
	why    string
}

// collectState reads a result or the state of a task. depth limits the nesting of results.
func (c *collector) collectState(o jsonscan.Value, index *jsonscan.Index, depth int) {
	for key, value := range o.IndexedMembers(index) {
		switch name := key.Text(); {
		case name == "inputRequests":
			c.collectRequests(value)
		case (name == "result" || name == "task") && depth > 1:
			c.collectState(value, &jsonscan.Index{}, depth-1)
		case name == "error":
			c.collectFailure(value)
		case foldsTo(name, "inputRequests"):
			c.why = reasonFolded
		}
		if c.why != "" {
			return
		}
	}
}

// collectRequests reads one inputRequests object.
func (c *collector) collectRequests(v jsonscan.Value) {
	if v.Kind() == jsonscan.Null {
		return
	}
	if v.Kind() != jsonscan.Object {
		c.why = "inputRequests is not an object"
		return
	}
	for key, entry := range v.Members() {
		method, params := entry.Member("method"), entry.Member("params")
		switch {
		case method.Kind() != jsonscan.String:
			c.why = "an input request without a method"
		case params != "" && params.Kind() != jsonscan.Object:
			c.why = "an input request whose params are not an object"
		case hasFoldedMembers(entry):
			c.why = "an input request with members that differ in case only"
		default:
			c.addRequest(key.Text(), method.Text(), params, entry)
		}
		if c.why != "" {
			return
		}
	}
}

// reasonNoInput is the reason why an input request is malformed: its method is not allowed in an
// answer. A denial does not quote the method, because the method is the server's text.
const reasonNoInput = "a server may not ask for this method in an answer"

// addRequest adds one input request.
func (c *collector) addRequest(key, method string, params, entry jsonscan.Value) {
	if len(c.in.Calls) == maxInputs {
		c.why = "more input requests than anyone would answer"
		return
	}
	var judged singleCall
	judged.setCall(policy.MethodSubject, method, c.server)
	switch method {
	case "sampling/createMessage", "elicitation/create":
		row := methodNamed(method)
		fs := readFields(params, &jsonscan.Index{})
		if fs.near != "" {
			c.why = reasonFolded
		} else if r := checkAmbiguous(&fs, row, false); r != nil {
			c.why = r.Reason
		}
		judged.calls[0].Subject = row.Subject
		judged.calls[0].Names = judged.names[:0]
		fs.fillCall(row.params, &judged.calls[0])
		fs.readExtra(row.params, &judged.calls[0])
	case "roots/list":
		fs := readFields(params, &jsonscan.Index{})
		fs.readExtra(none, &judged.calls[0])
	default:
		judged.calls[0].Malformed = reasonNoInput
	}
	if key == formKey { // otherwise the proxy would read the answer to this request as the answer to its own form
		judged.calls[0].Malformed = imitates
	}
	c.in.Calls = append(c.in.Calls, judged.calls[0])
	c.in.Keys = append(c.in.Keys, key)
	c.in.digests = append(c.in.digests, sha256.Sum256(entry.Bytes()))
}

// collectFailure reads the elicitations in an error. They are URLs that the user should visit.
func (c *collector) collectFailure(e jsonscan.Value) {
	list := e.Member("data").Member("elicitations")
	if list == "" || c.why != "" {
		return
	}
	if list.Kind() != jsonscan.Array {
		c.why = "elicitations is not an array"
		return
	}
	for entry := range list.Elements() {
		if entry.Kind() != jsonscan.Object {
			c.why = "an elicitation that is not an object"
			return
		}
		if c.addRequest(entry.Member("elicitationId").Text(), "elicitation/create", entry, entry); c.why != "" {
			return
		}
	}
}
