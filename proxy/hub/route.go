package hub

import (
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/proxy"
	"github.com/tidwall/gjson"
)

// call is a request of the client's that a server is to answer.
type call struct {
	id, token []byte // as the client has them; no token: nil
	key       string // frame.IDKey of the id

	// Guarded by the hub:
	server    *server // nil while it is being found
	withdrawn bool    // before the server had it
	on        *conn
	ownID     []byte // as that connection has it

	round // of a client of 2026-07-28
}

// routeLine finds out whose business a line of the client's is. What is no server's is the
// hub's own.
func (h *hub) routeLine(line []byte) {
	limits := h.o.Limits
	h.mu.Lock()
	limits.AllowBatch = h.client.version == "2025-03-26"
	begun := h.client.params != nil
	h.mu.Unlock()
	f, err := frame.Parse(line, limits)
	switch {
	case err != nil:
		h.own.useClientStream(func(c *proxy.Stream) { c.HandleLines(h.ctx, line) })
	case f.Kind == frame.Batch: // its messages are several servers', perhaps
		for i := range f.Elements {
			h.routeLine(f.Elements[i].Raw)
		}
	case f.Kind == frame.Request && h.isForServers(&f) && h.routeRequest(&f), begun && f.Kind == frame.Notification && h.routeNotification(&f):
	case f.Kind == frame.Response && h.routeResponse(&f):
	default:
		h.own.useClientStream(func(c *proxy.Stream) { c.HandleFrame(h.ctx, &f) })
	}
}

// routeRequest gives a request to the server whose it is; false when it is none's.
func (h *hub) routeRequest(f *frame.Frame) bool {
	params := jsonscan.ValueOf(f.Params)
	if h.takeReturn(f, params.Member("requestState")) {
		return true
	}
	switch f.Method {
	case "tools/call":
		return h.byName(f, tools, params.Member("name"))
	case "prompts/get":
		return h.byName(f, prompts, params.Member("name"))
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		return h.byURI(f, params.Member("uri"))
	case "completion/complete":
		ref := params.Member("ref")
		if ref.Member("type").Text() == "ref/prompt" {
			return h.byName(f, prompts, ref.Member("name"))
		}
		return h.byURI(f, ref.Member("uri"))
	case "tasks/get", "tasks/result", "tasks/cancel", "tasks/update":
		h.mu.Lock()
		s := h.handles[params.Member("taskId").Text()]
		h.mu.Unlock()
		return s != nil && h.sendRequest(s, f)
	case "subscriptions/listen":
		return h.registerListen(f, params.Member("notifications"))
	}
	return false
}

// byName sends a request to the server that a name belongs to, under the name it has there.
func (h *hub) byName(f *frame.Frame, k kind, name jsonscan.Value) bool {
	if name.Kind() != jsonscan.String {
		return false
	}
	s, original := h.findByName(k, name.Text())
	return s != nil && h.sendRequest(s, f, frame.Edit{Part: name.Bytes(), Token: gjson.AppendJSONString(nil, original)})
}

// byURI sends a request to the server that a resource belongs to. URIs go as they are, but
// for those of which a second server has one that is the same.
func (h *hub) byURI(f *frame.Frame, uri jsonscan.Value) bool {
	if uri.Kind() != jsonscan.String {
		return false
	}
	s, original := h.findByURI(uri.Text())
	if s == nil {
		return h.searchResource(f, uri)
	}
	return h.sendRequest(s, f, renamedURI(uri, original)...)
}

// renamedURI gives what changes in a request for a resource.
func renamedURI(uri jsonscan.Value, original string) []frame.Edit {
	if original == uri.Text() {
		return nil
	}
	return []frame.Edit{{Part: uri.Bytes(), Token: gjson.AppendJSONString(nil, original)}}
}

// searchResource finds the server of a resource when every server has said what it has. What is none's
// then is the hub's own.
func (h *hub) searchResource(f *frame.Frame, uri jsonscan.Value) bool {
	call := h.registerCall(f)
	if call == nil {
		return true
	}
	h.own.open.Add(1)
	run := func() {
		defer h.own.open.Add(-1)
		h.gatherLists(resources, h.currentServers())
		h.gatherLists(templates, h.currentServers())
		if s, original := h.findByURI(uri.Text()); s != nil {
			h.passCall(call, s, f, renamedURI(uri, original)...)
			return
		}
		h.own.useClientStream(func(c *proxy.Stream) {
			if h.finishCall(call) { // it is not withdrawn
				c.HandleFrame(h.ctx, f)
			}
		})
	}
	select {
	case h.own.later <- run:
	case <-h.ctx.Done():
		h.own.open.Add(-1)
	}
	return true
}

// sendRequest gives a request to a server, with these parts of it changed.
func (h *hub) sendRequest(s *server, f *frame.Frame, edits ...frame.Edit) bool {
	if c := h.registerCall(f); c != nil {
		h.passCall(c, s, f, edits...)
	}
	return true
}

// registerCall keeps a request as one that a server is to answer; nil when another has its id.
func (h *hub) registerCall(f *frame.Frame) *call {
	c := &call{id: f.ID, key: frame.IDKey(f.ID)}
	token := jsonscan.ValueOf(f.Params).Member("_meta").Member("progressToken")
	if k := token.Kind(); k == jsonscan.String || k == jsonscan.Number {
		c.token = token.Bytes()
	}
	c.method, c.params = f.Method, f.Params
	h.mu.Lock()
	taken := h.inFlight[c.key] != nil || h.own.fromClient.ResponseSink(f.ID) != nil
	if !taken {
		h.inFlight[c.key] = c
	}
	h.mu.Unlock()
	if taken {
		h.refuseDuplicate(f)
		return nil
	}
	return c
}

// passCall has a server answer a request, unless the client has withdrawn it.
func (h *hub) passCall(c *call, s *server, f *frame.Frame, edits ...frame.Edit) {
	h.mu.Lock()
	c.server = s
	withdrawn := c.withdrawn
	h.mu.Unlock()
	if withdrawn {
		return
	}
	s.postJob(job{starts: true, run: func(on *conn, err error) {
		if err != nil {
			h.failUnavailable(c, f, err)
			return
		}
		on.sendRequest(c, f, edits)
	}})
}

// refuseDuplicate refuses a request with the id of another.
func (h *hub) refuseDuplicate(f *frame.Frame) {
	r := &frame.Refusal{Code: "duplicate_id", Reason: "a request with this id is still in flight", ID: f.ID, Request: true}
	h.own.useClientStream(func(c *proxy.Stream) { c.RefuseLine(h.ctx, f.Raw, r) })
}

// failUnavailable answers a request to a server that does not run.
func (h *hub) failUnavailable(c *call, f *frame.Frame, err error) {
	c.server.recordDrop(f, err)
	if h.finishCall(c) {
		h.writeToClient(mcp.UnreachedAnswer(c.id, "server "+c.server.ID+": "+err.Error()))
	}
}

// finishCall forgets a call; false when it is answered, or expects no answer.
func (h *hub) finishCall(c *call) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.inFlight[c.key] != c {
		return false
	}
	delete(h.inFlight, c.key)
	return true
}

// routeNotification gives a notification to whom it is about; false when it is no server's.
func (h *hub) routeNotification(f *frame.Frame) bool {
	params := jsonscan.ValueOf(f.Params)
	switch f.Method {
	case "notifications/cancelled":
		return h.cancelCall(f, params.Member("requestId"))
	case "notifications/progress":
		token := params.Member("progressToken")
		h.mu.Lock()
		r := h.theirs[frame.IDKey(token.Bytes())]
		h.mu.Unlock()
		if r == nil || r.token == nil {
			return false
		}
		r.on.server.postJob(job{carries: f, run: func(on *conn, _ error) {
			on.queueLine(r.on, frame.SplicePart(f.Raw, token.Bytes(), r.token))
		}})
		return true
	case "notifications/roots/list_changed":
		for _, s := range h.currentServers() {
			s.postJob(job{carries: f, run: func(on *conn, _ error) {
				if on.meta == nil { // since when there is no such message
					on.queueLine(on, f.Raw)
				}
			}})
		}
		return true
	}
	return false
}

// cancelCall tells the one server that has the call, unless it has not got it yet.
func (h *hub) cancelCall(f *frame.Frame, id jsonscan.Value) bool {
	if k := id.Kind(); k != jsonscan.String && k != jsonscan.Number {
		return false
	}
	h.mu.Lock()
	c := h.inFlight[frame.IDKey(id.Bytes())]
	var to *server
	if c != nil {
		to, c.withdrawn = c.server, c.on == nil || c.asking
		delete(h.inFlight, c.key) // nobody waits: its server may never answer
	}
	h.mu.Unlock()
	if to == nil {
		return false
	}
	to.postJob(job{carries: f, run: func(on *conn, _ error) {
		if c.on != nil { // settled: this runs behind what gave it to a connection
			on.queueLine(c.on, frame.SplicePart(f.Raw, id.Bytes(), c.ownID))
			c.on.dropCall(c.ownID)
		}
	}})
	return true
}

// routeResponse gives an answer of the client's to the server that asked; false when none did.
func (h *hub) routeResponse(f *frame.Frame) bool {
	key := frame.IDKey(f.ID)
	h.mu.Lock()
	r := h.theirs[key]
	h.mu.Unlock()
	if r == nil {
		return false
	}
	r.on.forgetRequest(r.id)
	if r.of != nil {
		h.takeInquiryAnswer(r, f)
		return true
	}
	r.on.server.postJob(job{carries: f, run: func(on *conn, _ error) {
		on.queueLine(r.on, frame.SplicePart(f.Raw, f.ID, r.id))
	}})
	return true
}
