package hub

import (
	"errors"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/proxy"
)

// call is a client's request to a server.
type call struct {
	id, token []byte // the client's id and progress token; token is nil if there is none
	key       string // frame.IDKey of the id

	list   kind   // kind of the list that contains the entry `listed`
	listed string // name of the called entry, as the server itself writes it; "" unless the entry is in a list that the client got

	// The hub's mutex guards the fields below.
	server    *server // nil while the hub looks for the server
	withdrawn bool    // the client cancelled the call before the server got it
	on        *conn   // the connection to which the call was sent; nil before it is sent
	ownID     []byte  // id of the call on the connection in on

	round // state for questions to the client
}

// routeLine sends a line of the client to the right server, or to the hub itself (hub.own).
func (h *hub) routeLine(line []byte) {
	limits := h.o.Limits
	h.mu.Lock()
	limits.AllowBatch = h.client.version == mcp.BatchVersion
	begun := h.client.params != nil
	h.mu.Unlock()
	f, err := frame.Parse(line, limits)
	switch {
	case err != nil:
		h.own.useClientStream(func(c *proxy.Stream) { c.HandleLines(h.ctx, line) })
	case f.Kind == frame.Batch: // the messages of a batch may be for different servers
		for i := range f.Elements {
			h.routeLine(f.Elements[i].Raw)
		}
	case f.Kind == frame.Request && h.isForServers(&f) && h.routeRequest(&f), begun && f.Kind == frame.Notification && h.routeNotification(&f):
	case f.Kind == frame.Response && h.routeResponse(&f):
	default:
		h.own.useClientStream(func(c *proxy.Stream) { c.HandleFrame(h.ctx, &f) })
	}
}

// routeRequest sends a request to its server. It returns false when the request belongs to no
// server.
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

// byName sends a request to the server to which a name belongs (findByName). It replaces the name
// by the one that the server itself uses. It returns false when the name belongs to no server.
func (h *hub) byName(f *frame.Frame, k kind, name jsonscan.Value) bool {
	if name.Kind() != jsonscan.String {
		return false
	}
	s, original := h.findByName(k, name.Text())
	if s == nil {
		return false
	}
	if c := h.registerCall(f); c != nil {
		if s.lists[k].isListed(name.Text()) {
			c.list, c.listed = k, original
		}
		h.passCall(c, s, f, frame.Edit{Part: name.Bytes(), Token: quoteJSON(original)})
	}
	return true
}

// byURI sends a request to the server of a resource. If the hub has renamed the resource to
// "ID+URI" (renameResource), the server gets only the URI.
func (h *hub) byURI(f *frame.Frame, uri jsonscan.Value) bool {
	if uri.Kind() != jsonscan.String {
		return false
	}
	s, original := h.findByURI(uri.Text())
	if s == nil {
		return h.searchResource(f, uri)
	}
	return h.sendRequest(s, f, renameURI(uri, original)...)
}

// renameURI returns the edits that replace a URI by the one that the server itself uses. It returns
// none if the two are equal.
func renameURI(uri jsonscan.Value, original string) []frame.Edit {
	if original == uri.Text() {
		return nil
	}
	return []frame.Edit{{Part: uri.Bytes(), Token: quoteJSON(original)}}
}

// searchResource lets all the servers list their resources and then finds the server of a resource.
// If no server has the resource, the hub answers the request.
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
			h.passCall(call, s, f, renameURI(uri, original)...)
			return
		}
		h.own.useClientStream(func(c *proxy.Stream) {
			if h.finishCall(call) { // true unless the client has withdrawn the call
				c.HandleFrame(h.ctx, f)
			}
		})
	}
	if !h.own.postJob(func() { h.own.lists.Go(run) }) {
		h.own.open.Add(-1)
	}
	return true
}

// sendRequest applies the edits to a request and sends it to a server.
func (h *hub) sendRequest(s *server, f *frame.Frame, edits ...frame.Edit) bool {
	if c := h.registerCall(f); c != nil {
		h.passCall(c, s, f, edits...)
	}
	return true
}

// registerCall stores a request to a server as a call. If the id is in use, it refuses the request
// and returns nil.
func (h *hub) registerCall(f *frame.Frame) *call {
	c := &call{id: f.ID, key: frame.IDKey(f.ID), token: mcp.ProgressToken(f.Params).Bytes()}
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

// passCall sends a call to a server, unless the client has withdrawn it.
func (h *hub) passCall(c *call, s *server, f *frame.Frame, edits ...frame.Edit) {
	h.mu.Lock()
	c.server = s
	withdrawn := c.withdrawn
	h.mu.Unlock()
	if withdrawn {
		return
	}
	s.postJob(job{starts: true, run: func(on *conn, err error) {
		if err == nil && c.listed != "" && s.lists[c.list].lacks(c.listed) {
			err = errUnlisted
		}
		if err != nil {
			h.failUnavailable(c, f, err)
			return
		}
		on.sendRequest(c, f, edits)
	}})
}

// errUnlisted is the error for a call by a name that is in a kept list but not in the server's list
// any more.
var errUnlisted = errors.New("it does not list this any more; list again")

// refuseDuplicate refuses a request whose id is in use.
func (h *hub) refuseDuplicate(f *frame.Frame) {
	h.own.useClientStream(func(c *proxy.Stream) { c.RefuseLine(h.ctx, f.Raw, proxy.DuplicateID(f.ID)) })
}

// failUnavailable answers a request with an error, because its server does not run.
func (h *hub) failUnavailable(c *call, f *frame.Frame, err error) {
	c.server.recordDrop(f, err)
	if h.finishCall(c) {
		h.writeToClient(mcp.UnreachedAnswer(c.id, "server "+c.server.ID+": "+err.Error()))
	}
}

// finishCall removes a call. It returns false when the call has been answered or needs no answer.
func (h *hub) finishCall(c *call) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.inFlight[c.key] != c {
		return false
	}
	delete(h.inFlight, c.key)
	return true
}

// routeNotification sends a notification to its server. It returns false when it belongs to no
// server.
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
				if on.meta == nil { // 2026-07-28 has no such notification
					on.queueLine(on, f.Raw)
				}
			}})
		}
		return true
	}
	return false
}

// cancelCall passes a cancellation to the server of the call. A call that the server has not got
// yet is only marked as withdrawn.
func (h *hub) cancelCall(f *frame.Frame, id jsonscan.Value) bool {
	if !mcp.IsToken(id) {
		return false
	}
	h.mu.Lock()
	c := h.inFlight[frame.IDKey(id.Bytes())]
	var to *server
	if c != nil {
		to, c.withdrawn = c.server, c.on == nil || c.asking
		delete(h.inFlight, c.key) // removed at once, because the server may never answer
	}
	h.mu.Unlock()
	if to == nil {
		return false
	}
	to.postJob(job{carries: f, run: func(on *conn, _ error) {
		if c.on != nil { // c.on does not change any more, because this job runs after the job that sets it
			on.queueLine(c.on, frame.SplicePart(f.Raw, id.Bytes(), c.ownID))
			c.on.dropCall(c.ownID)
		}
	}})
	return true
}

// routeResponse sends a client's response to the server that asked. It returns false when no server
// asked.
func (h *hub) routeResponse(f *frame.Frame) bool {
	key := frame.IDKey(f.ID)
	h.mu.Lock()
	r := h.theirs[key]
	h.mu.Unlock()
	if r == nil {
		return false
	}
	r.on.forgetRequest(r.id)
	if r.inquiry != nil {
		h.takeInquiryAnswer(r, f)
		return true
	}
	r.on.server.postJob(job{carries: f, run: func(on *conn, _ error) {
		on.queueLine(r.on, frame.SplicePart(f.Raw, f.ID, r.id))
	}})
	return true
}
