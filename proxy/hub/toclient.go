package hub

import (
	"fmt"
	"strconv"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// toClient receives a server's messages after the gate has let them through. It replaces their ids
// and tokens by those of the client and sends the messages to the client.
type toClient conn

// Flush sends the added frames.
func (t *toClient) Flush() { t.server.h.out.Flush() }

// Add sends one message or one batch.
func (t *toClient) Add(line []byte) error {
	limits := t.server.h.o.Limits
	limits.AllowBatch = true // the session has already checked whether batches are allowed
	f, err := frame.Parse(line, limits)
	if err != nil {
		return err
	}
	for one := range f.Messages { // the answers in a batch may be for several askers
		if err := t.addFrame(one); err != nil {
			return err
		}
	}
	return nil
}

func (t *toClient) addFrame(f *frame.Frame) error {
	c := (*conn)(t)
	var line []byte
	switch f.Kind {
	case frame.Response:
		line = c.rewriteAnswer(f)
	case frame.Request:
		line = c.rewriteRequest(f)
		if c.modernClient {
			return c.inquireClient(line)
		}
	case frame.Notification:
		if c.modernClient && f.Method == "notifications/resources/updated" {
			return c.announceUpdate(f, jsonscan.ValueOf(f.Params))
		}
		line = c.rewriteNotification(f)
	case frame.Batch, frame.Invalid:
	}
	if line == nil {
		return nil
	}
	if f.Kind != frame.Response { // the edits may have made a request or a notification longer than the limits allow
		if _, err := frame.Parse(line, c.server.h.o.Limits); err != nil {
			c.forgetRequest(f.ID)
			return err
		}
	}
	return c.server.h.out.Add(line)
}

// rewriteAnswer returns an answer in the form for the client. It returns nil if the hub itself
// waits for the answer, or if nobody waits for it.
func (c *conn) rewriteAnswer(f *frame.Frame) []byte {
	a, ok := c.claimAsker(f.ID)
	switch {
	case !ok:
		return nil
	case a.hub != nil:
		a.hub <- *f
		return nil
	}
	_, tasks := mcp.ReadOutcome(f)
	c.server.h.keepTasks(c.server, tasks)
	if len(tasks) == 0 { // a task still reports progress after its answer
		c.mu.Lock()
		delete(c.tokens, string(f.ID))
		c.mu.Unlock()
	}
	if c.modernClient && !c.modern.Load() {
		return c.server.h.concludeCall(a.call, f, modernEdits(f, a.call.method)...)
	}
	if !c.modernClient && c.modern.Load() && c.askClient(a.call, f) {
		return nil
	}
	return c.server.h.concludeCall(a.call, f, c.asksInside(f)...)
}

// maxTasks is how many tasks the hub remembers for each server.
const maxTasks = 4096

// keepTasks stores s as the server of these task ids.
func (h *hub) keepTasks(s *server, tasks []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range tasks {
		if other, taken := h.handles[id]; taken && other != s {
			h.handles[id] = nil // two servers used the id, so it belongs to neither
		} else if !taken && s.tasks < maxTasks {
			h.handles[id] = s
			s.tasks++
		}
	}
}

// rewriteRequest returns a server's request in the form for the client. The form contains the
// server's name.
func (c *conn) rewriteRequest(f *frame.Frame) []byte {
	params := jsonscan.ValueOf(f.Params)
	meta := params.Member("_meta")
	r := &request{on: c, id: f.ID, token: mcp.ProgressToken(f.Params).Bytes()}
	id := c.registerRequest(r)
	edits := []frame.Edit{{Part: f.ID, Token: id}}
	if r.token != nil {
		edits = append(edits, frame.Edit{Part: r.token, Token: id})
	}
	switch message := params.Member("message"); {
	case f.Method == "elicitation/create" && message.Kind() == jsonscan.String:
		edits = append(edits, c.prefixEdit(message)) // a person reads this message, so it names the server
	case f.Method != "sampling/createMessage":
	case meta.Kind() == jsonscan.Object:
		edits = append(edits, memberEdit(meta, "clawai/server", `"`+c.server.ID+`"`))
	case params.Kind() == jsonscan.Object:
		edits = append(edits, memberEdit(params, "_meta", `{"clawai/server":"`+c.server.ID+`"}`))
	}
	return frame.SpliceAll(f.Raw, edits...)
}

// registerRequest stores a server's request. It returns the id of the request for the client.
func (c *conn) registerRequest(r *request) (id []byte) {
	h := c.server.h
	h.mu.Lock()
	h.asked++
	id = strconv.AppendQuote(nil, c.server.ID+"-"+strconv.Itoa(h.asked))
	h.theirs[frame.IDKey(id)] = r
	h.mu.Unlock()
	c.mu.Lock()
	c.theirs[frame.IDKey(r.id)] = frame.IDKey(id)
	c.mu.Unlock()
	return id
}

// forgetRequest removes a server's request. It returns the key of the client's id for the request.
func (c *conn) forgetRequest(id []byte) (key string) {
	c.mu.Lock()
	key = c.theirs[frame.IDKey(id)]
	delete(c.theirs, frame.IDKey(id))
	c.mu.Unlock()
	c.server.h.mu.Lock()
	delete(c.server.h.theirs, key)
	c.server.h.mu.Unlock()
	return key
}

// rewriteNotification returns a notification in the form for the client, or nil when the client
// does not get it.
func (c *conn) rewriteNotification(f *frame.Frame) []byte {
	params := jsonscan.ValueOf(f.Params)
	switch f.Method {
	case "notifications/tools/list_changed", "notifications/prompts/list_changed", "notifications/resources/list_changed":
		for k := range c.server.lists {
			if "notifications/"+kind(k).changeTopic()+"/list_changed" == f.Method {
				c.server.lists[k].markStale(true)
				c.outdateList(kind(k))
				c.relistOnce(kind(k))
				c.server.h.changes.noteChange(kind(k))
			}
		}
		return nil
	case "notifications/subscriptions/acknowledged":
		c.noteAcknowledgement(params)
		return nil
	case "notifications/progress":
		token := params.Member("progressToken").Bytes()
		c.mu.Lock()
		to := c.tokens[string(token)]
		c.mu.Unlock()
		if to == nil {
			return nil
		}
		return frame.SplicePart(f.Raw, token, to)
	case "notifications/cancelled":
		id := params.Member("requestId").Bytes()
		key := c.forgetRequest(id)
		if key == "" && len(id) > 0 {
			c.server.h.endWatches(c, id)
		}
		if key == "" || c.modernClient {
			return nil
		}
		return frame.SplicePart(f.Raw, id, []byte(key))
	case "notifications/message":
		if c.modernClient && !c.mayLog() {
			return nil
		}
		switch logger := params.Member("logger"); {
		case logger.Kind() == jsonscan.String:
			return frame.SplicePart(f.Raw, logger.Bytes(), quoteJSON(c.server.ID+"."+logger.Text()))
		case params.Kind() == jsonscan.Object:
			return frame.SpliceAll(f.Raw, memberEdit(params, "logger", `"`+c.server.ID+`"`))
		}
	}
	return f.Raw
}

// asksInside returns edits for the questions in an answer. They put the server's name before each
// message, because a person reads the message.
func (c *conn) asksInside(f *frame.Frame) (edits []frame.Edit) {
	if !c.modern.Load() {
		return nil
	}
	for _, q := range jsonscan.ValueOf(f.Result).Member("inputRequests").Members() {
		message := q.Member("params").Member("message")
		if q.Member("method").Text() == "elicitation/create" && message.Kind() == jsonscan.String {
			edits = append(edits, c.prefixEdit(message))
		}
	}
	return edits
}

// prefixEdit returns the edit that puts the server's id before a text.
func (c *conn) prefixEdit(text jsonscan.Value) frame.Edit {
	return frame.Edit{Part: text.Bytes(), Token: append([]byte(`"[`+c.server.ID+`] `), text[1:]...)}
}

// memberEdit returns the edit that sets a member of an object. If the object has this member, the
// edit replaces its value.
func memberEdit(object jsonscan.Value, name, value string) frame.Edit {
	if there := object.Member(name); there != "" {
		return frame.Edit{Part: there.Bytes(), Token: []byte(value)}
	}
	return prependEdit(object, `"`+name+`":`+value)
}

func newError(code int, text string) []byte {
	return fmt.Appendf(nil, `{"code":%d,"message":%s}`, code, quoteJSON(text))
}
