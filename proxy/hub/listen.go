package hub

import (
	"context"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/proxy"
)

// listen is a subscriptions/listen request of a client of the MCP version 2026-07-28. It lasts
// until the client cancels it (basic/patterns/subscriptions). The hub itself reports list changes.
// The server of a resource watches the resource, through a subscription or through a listen request
// for only this resource. The hub's mutex guards all fields.
type listen struct {
	request  frame.Frame
	kinds    []string // topics of list changes: tools, prompts, resources
	uris     []string // URIs in the client's request
	watching []*watch // resources that servers have agreed to watch
	open     bool     // the client got the acknowledgement
}

// watch is one resource that a server watches for a listen request.
type watch struct {
	uri, original string // the URI in the client's form and in the server's form
	on            *conn  // nil while the server does not run
	ownID         []byte // id of the hub's listen at the server; nil for a subscription
	released      bool   // the listen has ended
}

// listKinds maps the members of the filter in a listen request to the topics of list changes.
var listKinds = [...]struct{ member, kind string }{
	{"toolsListChanged", "tools"}, {"promptsListChanged", "prompts"}, {"resourcesListChanged", "resources"},
}

// registerListen stores a listen request. It removes the resources from the request before the gate
// judges the request in the hub's name, because the gate judges each resource separately, at the
// resource's server. It returns false if the filter is not usable.
func (h *hub) registerListen(f *frame.Frame, filter jsonscan.Value) bool {
	if !h.isModern() || filter.Kind() != jsonscan.Object {
		return false
	}
	l := &listen{request: frame.Frame{ID: f.ID, Method: f.Method, Params: f.Params}}
	for _, k := range listKinds {
		if filter.Member(k.member) == "true" {
			l.kinds = append(l.kinds, k.kind)
		}
	}
	raw := f.Raw
	if uris := filter.Member("resourceSubscriptions"); uris.Kind() == jsonscan.Array {
		for uri := range uris.Elements() {
			if uri.Kind() != jsonscan.String {
				return false
			}
			if !slices.Contains(l.uris, uri.Text()) {
				l.uris = append(l.uris, uri.Text())
			}
		}
		raw = frame.SplicePart(raw, uris.Bytes(), []byte("[]"))
	}
	key := frame.IDKey(f.ID)
	h.mu.Lock()
	taken := h.inFlight[key] != nil || h.own.fromClient.ResponseSink(f.ID) != nil
	if !taken {
		h.listens[key] = l
	}
	h.mu.Unlock()
	if taken {
		h.refuseDuplicate(f)
		return true
	}
	h.own.useClientStream(func(c *proxy.Stream) { c.HandleLines(h.ctx, raw) })
	return true
}

// answerListen acknowledges a listen request. It waits until the servers have agreed or declined to
// watch the resources.
func (o *own) answerListen(f *frame.Frame) {
	o.h.mu.Lock()
	l := o.h.listens[frame.IDKey(f.ID)]
	o.h.mu.Unlock()
	switch {
	case !o.h.isModern():
		o.sendErrorCode(f, -32601, f.Method+" is nothing that this hub hands on")
	case l == nil:
		o.sendErrorCode(f, -32602, "notifications is not an object that says what to listen for")
	case len(l.uris) == 0:
		o.acknowledgeListen(l)
	default:
		o.lists.Go(func() { o.h.watchResources(l); o.acknowledgeListen(l) })
	}
}

// watchResources asks the servers to watch the resources of a listen request. It waits for their
// answers at most ListWait.
func (h *hub) watchResources(l *listen) {
	ctx, cancel := context.WithTimeout(h.ctx, h.o.ListWait)
	defer cancel()
	gathered := false
	agreed := make([]chan frame.Frame, len(l.uris))
	all := make([]*watch, len(l.uris))
	for i, uri := range l.uris {
		s, original := h.findByURI(uri)
		if s == nil && !gathered {
			h.gatherLists(resources, h.currentServers())
			h.gatherLists(templates, h.currentServers())
			gathered = true
			s, original = h.findByURI(uri)
		}
		answer := make(chan frame.Frame, 2) // room for two frames: the agreement, and the end of the listen
		agreed[i], all[i] = answer, &watch{uri: uri, original: original}
		if s == nil {
			close(answer)
			continue
		}
		s.postJob(job{starts: true, run: func(on *conn, err error) {
			if err != nil {
				close(answer)
				return
			}
			on.subscribeResource(all[i], answer)
		}})
	}
	for i, w := range all {
		said, late := false, ctx.Done()
		if len(agreed[i]) > 0 {
			late = nil // the answer is here already, so select must not choose the deadline
		}
		select {
		case f, ok := <-agreed[i]:
			said = ok && f.Error == nil
		case <-late:
		}
		if h.ctx.Err() != nil {
			return
		}
		h.mu.Lock()
		kept := said && h.listens[frame.IDKey(l.request.ID)] == l
		if kept {
			l.watching = append(l.watching, w)
		}
		h.mu.Unlock()
		if !kept {
			h.releaseWatch(w)
		}
	}
}

// subscribeResource asks the server to report changes of a resource. The server's agreement comes
// on the channel agreed.
func (c *conn) subscribeResource(w *watch, agreed chan<- frame.Frame) {
	h := c.server.h
	uri := string(quoteJSON(w.original))
	var id []byte
	if c.meta != nil {
		id = c.expectAnswer(asker{hub: agreed, open: true})
	}
	h.mu.Lock()
	w.on, w.ownID = c, id
	released := w.released
	h.mu.Unlock()
	if released {
		c.claimAsker(id)
		return
	}
	c.subscribed = true
	if id == nil {
		c.requestAnswer("resources/subscribe", c.requestParams(`"uri":`+uri), agreed)
		return
	}
	c.queueRequest("subscriptions/listen", c.requestParams(`"notifications":{"resourceSubscriptions":[`+uri+`]}`), id)
}

// followLists asks a server of 2026-07-28 to report list changes. Servers of earlier versions
// report them without a request.
func (c *conn) followLists(capabilities jsonscan.Value) {
	filter := ""
	for _, k := range listKinds {
		if capabilities.Member(k.kind).Member("listChanged") == "true" {
			filter += `,"` + k.member + `":true`
		}
	}
	if filter != "" {
		c.queueRequest("subscriptions/listen", c.requestParams(`"notifications":{`+filter[1:]+"}"), c.expectAnswer(asker{hub: make(chan frame.Frame, 2), open: true}))
	}
}

// noteAcknowledgement handles a server's acknowledgement of a listen request that the hub sent.
func (c *conn) noteAcknowledgement(params jsonscan.Value) {
	id := params.Member("_meta").Member(mcp.MetaPrefix + "subscriptionId").Bytes()
	var f frame.Frame
	agreed := false
	for range params.Member("notifications").Member("resourceSubscriptions").Elements() {
		agreed = true
	}
	if !agreed {
		f.Error = []byte("{}")
	}
	c.mu.Lock()
	a := c.asked[string(id)]
	switch {
	case a.call != nil && a.open && agreed: // the listen is for a subscription of a client of an earlier version
		c.asked[string(id)] = asker{hub: make(chan frame.Frame, 2), open: true}
	case a.hub != nil && a.open: // sent while c.mu is held: the asker is still in c.asked, so endConnection has not closed the asker's channel
		select {
		case a.hub <- f:
		default:
		}
	}
	c.mu.Unlock()
	if a.call != nil && a.open && agreed {
		c.subscribedNow(a.call)
	}
}

// releaseWatch ends a server's watch of a resource, unless another listen request uses the same
// subscription.
func (h *hub) releaseWatch(w *watch) {
	h.mu.Lock()
	w.released = true
	on, id := w.on, w.ownID
	for _, l := range h.listens {
		for _, other := range l.watching {
			if id == nil && other.on == on && other.original == w.original {
				on = nil
			}
		}
	}
	h.mu.Unlock()
	if on == nil {
		return
	}
	on.server.postJob(job{run: func(now *conn, _ error) {
		switch {
		case now != on:
		case id == nil:
			on.requestAnswer("resources/unsubscribe", on.requestParams(`"uri":`+string(quoteJSON(w.original))), make(chan frame.Frame, 1))
		default:
			on.queueLine(on, mcp.CancelNotification(id, "nobody listens any more"))
			on.claimAsker(id)
		}
	}})
}

// acknowledgeListen tells the client which changes it will get. It ends a listen request that will
// get no changes.
func (o *own) acknowledgeListen(l *listen) {
	o.h.mu.Lock()
	here := o.h.listens[frame.IDKey(l.request.ID)] == l
	l.open = here
	filter, uris := "", ""
	for _, k := range listKinds {
		if slices.Contains(l.kinds, k.kind) {
			filter += `,"` + k.member + `":true`
		}
	}
	for _, w := range l.watching {
		uris += "," + string(quoteJSON(w.uri))
	}
	o.h.mu.Unlock()
	if !here {
		return
	}
	if uris != "" {
		filter += `,"resourceSubscriptions":[` + uris[1:] + "]"
	}
	o.sendMessage([]byte(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":` + l.subscriptionMeta() +
		`,"notifications":{` + strings.TrimPrefix(filter, ",") + "}}}"))
	if filter == "" {
		o.h.endListen(l)
	}
}

// subscriptionMeta returns the _meta for the messages of a listen request. It holds the id of this
// request.
func (l *listen) subscriptionMeta() string {
	return `{"` + mcp.MetaPrefix + `subscriptionId":` + string(l.request.ID) + "}"
}

// cancelListen ends a listen request because the client has cancelled it.
func (h *hub) cancelListen(id jsonscan.Value) {
	if !mcp.IsToken(id) {
		return
	}
	h.mu.Lock()
	l := h.listens[frame.IDKey(id.Bytes())]
	h.mu.Unlock()
	if l != nil && h.forgetListen(l) {
		h.own.fromClient.SettleRequest(id.Bytes()) // from here on the client may use the id again
	}
}

// forgetListen removes a listen request from the hub and releases its watches. It returns false if
// the request was removed before.
func (h *hub) forgetListen(l *listen) bool {
	key := frame.IDKey(l.request.ID)
	h.mu.Lock()
	here := h.listens[key] == l
	var watching []*watch
	if here {
		delete(h.listens, key)
		watching, l.watching = l.watching, nil
	}
	h.mu.Unlock()
	for _, w := range watching {
		h.releaseWatch(w)
	}
	return here
}

// endListen ends a listen request that the client has not cancelled. It sends the answer to the
// request.
func (h *hub) endListen(l *listen) {
	if h.forgetListen(l) {
		h.own.sendResult(&l.request, []byte(`{"_meta":`+l.subscriptionMeta()+"}"))
	}
}

// endWatches ends every listen request of the client that watches something on connection c. With
// an id, it ends only those that use the hub's own listen request with this id. The client may then
// send a new listen request.
func (h *hub) endWatches(c *conn, id []byte) {
	var lost []*listen
	h.mu.Lock()
	for _, l := range h.listens {
		if slices.ContainsFunc(l.watching, func(w *watch) bool { return w.on == c && (id == nil || string(w.ownID) == string(id)) }) {
			lost = append(lost, l)
		}
	}
	h.mu.Unlock()
	for _, l := range lost {
		h.endListen(l)
	}
}

// announceChange tells the client that the lists of a kind have changed.
func (h *hub) announceChange(kind, method string) {
	if !h.isModern() {
		h.own.sendMessage([]byte(`{"jsonrpc":"2.0","method":"` + method + `"}`))
		return
	}
	var lines [][]byte
	h.mu.Lock()
	for _, l := range h.listens {
		if l.open && slices.Contains(l.kinds, kind) {
			lines = append(lines, []byte(`{"jsonrpc":"2.0","method":"`+method+`","params":{"_meta":`+l.subscriptionMeta()+"}}"))
		}
	}
	h.mu.Unlock()
	for _, line := range lines {
		h.own.sendMessage(line)
	}
}

// announceUpdate reports a changed resource to each listen request that watches this resource or a
// parent of it.
func (c *conn) announceUpdate(f *frame.Frame, params jsonscan.Value) error {
	h, uri, meta := c.server.h, params.Member("uri"), params.Member("_meta")
	subscription := meta.Member(mcp.MetaPrefix + "subscriptionId").Bytes() // nil if the server speaks an earlier version
	var lines [][]byte
	h.mu.Lock()
	for _, l := range h.listens {
		for _, w := range l.watching {
			below, ok := strings.CutPrefix(uri.Text(), w.original)
			if !l.open || w.on != c || !ok || uri.Kind() != jsonscan.String || string(subscription) != string(w.ownID) {
				continue
			}
			mark := memberEdit(params, "_meta", l.subscriptionMeta())
			if meta.Kind() == jsonscan.Object {
				mark = memberEdit(meta, mcp.MetaPrefix+"subscriptionId", string(l.request.ID))
			}
			lines = append(lines, frame.SpliceAll(f.Raw, mark, frame.Edit{Part: uri.Bytes(), Token: quoteJSON(w.uri + below)}))
			break
		}
	}
	h.mu.Unlock()
	for _, line := range lines {
		if _, err := frame.Parse(line, h.o.Limits); err != nil {
			return err
		}
		if err := h.out.Add(line); err != nil {
			return err
		}
	}
	return nil
}
