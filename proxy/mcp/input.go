package mcp

import (
	"crypto/sha256"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/frame"
	"github.com/tidwall/gjson"
)

// Inputs are the requests a server makes of the client inside an answer or a
// notification instead of sending them itself. The slices run in parallel.
type Inputs struct {
	Calls []policy.Call
	Keys  []string // the server's name for each; may repeat in one session

	digests [][sha256.Size]byte // of each request's bytes
}

// InputCalls finds what a server asks of the client in a response or a
// notification of its own: inputRequests of a result (MCP 2026-07-28 basic/mrtr),
// of a task's state in tasks/get, notifications/tasks (tasks extension) or a
// result's task, and of the result or error a finished task holds; and the
// elicitations of the error -32042 (MCP 2025-11-25 client/elicitation). Each is judged like the request it
// stands for; one of a method the protocol does not allow there is malformed.
// Wrong shapes refuse the frame. resultType is not asked: a client may not either.
func InputCalls(f *frame.Frame, server string) (Inputs, *frame.Refusal) {
	c := collector{server: server}
	switch f.Kind {
	case frame.Response:
		c.base = f.Result
		c.state(object(f.Result), 2)
		c.base = f.Error
		c.failure(object(f.Error))
	case frame.Notification:
		c.base = f.Params
		c.state(object(f.Params), 2)
	default: // a server's own requests are read by Read
	}
	if c.why != "" {
		return Inputs{}, refuse(f, CodeRequests, c.why)
	}
	return c.in, nil
}

// maxInputs bounds the requests of one frame, and the answers of one retry.
const maxInputs = 256

// collector gathers input requests; why is the first thing wrong with them.
type collector struct {
	base   []byte
	server string
	in     Inputs
	why    string
}

// state looks at a result or a task's state. depth bounds how many results may
// lie inside each other.
func (c *collector) state(o gjson.Result, depth int) {
	if !o.IsObject() || depth == 0 {
		return
	}
	o.ForEach(func(key, value gjson.Result) bool {
		switch {
		case key.Str == "inputRequests":
			c.requests(value)
		case key.Str == "result", key.Str == "task":
			c.state(value, depth-1)
		case key.Str == "error":
			c.failure(value)
		case foldsTo(key.Str, "inputRequests"):
			c.why = reasonFolded
		}
		return c.why == ""
	})
}

// requests reads one inputRequests object.
func (c *collector) requests(v gjson.Result) {
	if v.Type == gjson.Null {
		return
	}
	if !v.IsObject() {
		c.why = "inputRequests is not an object"
		return
	}
	v.ForEach(func(key, entry gjson.Result) bool {
		method, params := member(entry, "method"), member(entry, "params")
		switch {
		case method.Type != gjson.String:
			c.why = "an input request without a method"
		case params.Exists() && !params.IsObject():
			c.why = "an input request whose params are not an object"
		case folding(entry):
			c.why = "an input request with members that differ in case only"
		default:
			c.request(key.Str, method.Str, params, entry)
		}
		return c.why == ""
	})
}

// request adds one input request.
func (c *collector) request(key, method string, params, entry gjson.Result) {
	if len(c.in.Calls) == maxInputs {
		c.why = "more input requests than anyone would answer"
		return
	}
	judged := call(policy.MethodSubject, method, c.server)
	switch method {
	case "sampling/createMessage", "elicitation/create":
		row := methodNamed(method)
		fs := readFields(c.base, params)
		if fs.near != "" {
			c.why = reasonFolded
		} else if r := ambiguous(&fs, row); r != nil {
			c.why = r.Reason
		}
		judged.calls[0].Subject = row.Subject
		judged.calls[0].Names = judged.names[:0]
		fs.judged(row.params, &judged.calls[0])
		fs.readExtra(row.params, &judged.calls[0])
	case "roots/list":
		fs := readFields(c.base, params)
		fs.readExtra(none, &judged.calls[0])
	default:
		judged.calls[0].Malformed = "a server may not ask for this method in an answer"
	}
	if key == formKey { // the answer would be taken for one to our form
		judged.calls[0].Malformed = imitates
	}
	c.in.Calls = append(c.in.Calls, judged.calls[0])
	c.in.Keys = append(c.in.Keys, key)
	c.in.digests = append(c.in.digests, sha256.Sum256([]byte(entry.Raw)))
}

// failure looks at an error for the URLs its reader is asked to visit.
func (c *collector) failure(e gjson.Result) {
	list := member(member(e, "data"), "elicitations")
	if !list.Exists() || c.why != "" {
		return
	}
	if !list.IsArray() {
		c.why = "elicitations is not an array"
		return
	}
	list.ForEach(func(_, entry gjson.Result) bool {
		if !entry.IsObject() {
			c.why = "an elicitation that is not an object"
			return false
		}
		c.request(member(entry, "elicitationId").Str, "elicitation/create", entry, entry)
		return c.why == ""
	})
}
