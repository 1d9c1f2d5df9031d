package hub

import (
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/proxy"
	"github.com/tidwall/gjson"
)

// listen is what a client of 2026-07-28 wants to be told of, until it takes its request back
// (basic/patterns/subscriptions). Changes of lists are the hub's to tell; each resource is
// watched by its server, which is asked as for a subscription, or a listen, of that one.
// It is guarded by the hub.
type listen struct {
	request  frame.Frame
	kinds    []string   // of lists: tools, prompts, resources
	uris     []string   // that the client has asked for
	watching []*watched // that servers have agreed to
	open     bool       // it has been acknowledged
}

// watched is a resource at its server.
type watched struct {
	uri, original string // for the client, and there
	on            *conn  // nil while it does not run
	ownID         []byte // of the listen there; nil for a subscription
	released      bool
}

// listKinds are the members of a filter that lists have.
var listKinds = [...]struct{ member, kind string }{
	{"toolsListChanged", "tools"}, {"promptsListChanged", "prompts"}, {"resourcesListChanged", "resources"},
}

// registerListen keeps which resources a client wants to be told of from what the hub is asked: each
// is judged as its server's.
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

// answerListen agrees to what can be told of, when servers have said whether they tell.
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

// watchResources has servers watch the resources of a listen, and waits for them as for a list.
func (h *hub) watchResources(l *listen) {
	late := time.NewTimer(h.o.ListWait)
	defer late.Stop()
	gathered := false
	agreed := make([]chan frame.Frame, len(l.uris))
	all := make([]*watched, len(l.uris))
	for i, uri := range l.uris {
		s, original := h.findByURI(uri)
		if s == nil && !gathered {
			h.gatherLists(resources, h.currentServers())
			h.gatherLists(templates, h.currentServers())
			gathered = true
			s, original = h.findByURI(uri)
		}
		answer := make(chan frame.Frame, 2) // that it is agreed, and how it ends
		agreed[i], all[i] = answer, &watched{uri: uri, original: original}
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
		said, there := false, late.C
		if len(agreed[i]) > 0 {
			there = nil // what has come in time counts
		}
		select {
		case f, ok := <-agreed[i]:
			said = ok && f.Error == nil
		case <-there:
			late.Reset(0)
		case <-h.ctx.Done():
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

// subscribeResource has the server report of a resource.
func (c *conn) subscribeResource(w *watched, agreed chan<- frame.Frame) {
	h := c.server.h
	uri := string(gjson.AppendJSONString(nil, w.original))
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

// followLists has a server of 2026-07-28 tell of its lists, as an earlier one does unasked.
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

// noteAcknowledgement notes that a server reports of what it was asked to.
func (c *conn) noteAcknowledgement(params jsonscan.Value) {
	id := params.Member("_meta").Member(metaPrefix + "subscriptionId").Bytes()
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
	case a.call != nil && a.open && agreed: // of a client of an earlier version
		c.asked[string(id)] = asker{hub: make(chan frame.Frame, 2), open: true}
	case a.hub != nil && a.open: // or it has ended, and the channel with it
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

// releaseWatch has a server watch a resource no longer, unless another listen wants it to.
func (h *hub) releaseWatch(w *watched) {
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
			on.requestAnswer("resources/unsubscribe", on.requestParams(`"uri":`+string(gjson.AppendJSONString(nil, w.original))), make(chan frame.Frame, 1))
		default:
			on.queueLine(on, mcp.CancelNotification(id, "nobody listens any more"))
			on.claimAsker(id)
		}
	}})
}

// acknowledgeListen tells the client what it will be told of; a listen for nothing is over.
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
		uris += "," + string(gjson.AppendJSONString(nil, w.uri))
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

// subscriptionMeta says which listen a message belongs to.
func (l *listen) subscriptionMeta() string {
	return `{"` + metaPrefix + `subscriptionId":` + string(l.request.ID) + "}"
}

// cancelListen ends a listen that the client has taken back.
func (h *hub) cancelListen(id jsonscan.Value) {
	if k := id.Kind(); k != jsonscan.String && k != jsonscan.Number {
		return
	}
	h.mu.Lock()
	l := h.listens[frame.IDKey(id.Bytes())]
	h.mu.Unlock()
	if l != nil && h.forgetListen(l) {
		h.own.fromClient.SettleRequest(id.Bytes()) // the id is free again
	}
}

// forgetListen has nothing more be told of to a listen; false when another has done so.
func (h *hub) forgetListen(l *listen) bool {
	key := frame.IDKey(l.request.ID)
	h.mu.Lock()
	here := h.listens[key] == l
	var watching []*watched
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

// endListen ends a listen that the client has not taken back.
func (h *hub) endListen(l *listen) {
	if h.forgetListen(l) {
		h.own.sendResult(&l.request, []byte(`{"_meta":`+l.subscriptionMeta()+"}"))
	}
}

// endWatches ends every listen to a connection that is over, or, with an id, to the one listen
// of ours there: a client that wants to be told further asks anew.
func (h *hub) endWatches(c *conn, id []byte) {
	var lost []*listen
	h.mu.Lock()
	for _, l := range h.listens {
		if slices.ContainsFunc(l.watching, func(w *watched) bool { return w.on == c && (id == nil || string(w.ownID) == string(id)) }) {
			lost = append(lost, l)
		}
	}
	h.mu.Unlock()
	for _, l := range lost {
		h.endListen(l)
	}
}

// announceChange tells the client that lists of a kind have changed.
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

// announceUpdate tells every listen of a resource that has changed, or of one below it.
func (c *conn) announceUpdate(f *frame.Frame, params jsonscan.Value) error {
	h, uri, meta := c.server.h, params.Member("uri"), params.Member("_meta")
	of := meta.Member(metaPrefix + "subscriptionId").Bytes() // nil of a server of an earlier version
	var lines [][]byte
	h.mu.Lock()
	for _, l := range h.listens {
		for _, w := range l.watching {
			below, ok := strings.CutPrefix(uri.Text(), w.original)
			if !l.open || w.on != c || !ok || uri.Kind() != jsonscan.String || string(of) != string(w.ownID) {
				continue
			}
			mark := memberEdit(params, "_meta", l.subscriptionMeta())
			if meta.Kind() == jsonscan.Object {
				mark = memberEdit(meta, metaPrefix+"subscriptionId", string(l.request.ID))
			}
			lines = append(lines, frame.SpliceAll(f.Raw, mark, frame.Edit{Part: uri.Bytes(), Token: gjson.AppendJSONString(nil, w.uri+below)}))
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
