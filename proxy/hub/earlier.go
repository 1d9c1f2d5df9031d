package hub

import (
	"slices"
	"strconv"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// A client of an earlier version may use a server that knows only 2026-07-28. Then the hub adds to
// each request the members that the new version needs. When the server asks something in an answer,
// the hub asks the client by requests, and the call waits.

// maxRounds limits how often a server may ask the client during one call. Each time, the server
// asks in an answer to the call.
const maxRounds = 10

// inquiry holds the questions that a server asks in one answer to a call.
type inquiry struct {
	call    *call
	left    int    // number of questions without an answer
	answers []byte // the members of inputResponses so far, as JSON text
	state   string // the JSON member requestState with a comma; "" if the server has sent none
}

// modernizeRequest returns the edits that turn a request of an earlier version into one of
// 2026-07-28. The edits write the version into _meta and add members to the params.
func (c *conn) modernizeRequest(f *frame.Frame, members string) []frame.Edit {
	h := c.server.h
	says := string(c.meta[1 : len(c.meta)-1])
	h.mu.Lock()
	if level := h.client.level; level != nil {
		says += `,"` + mcp.MetaPrefix + `logLevel":` + string(level)
	}
	h.mu.Unlock()
	params := jsonscan.ValueOf(f.Params)
	meta := params.Member("_meta")
	if meta.Kind() != jsonscan.Object {
		return []frame.Edit{prependEdit(params, members+`"_meta":{`+says+`}`)}
	}
	edits := []frame.Edit{prependEdit(meta, says)}
	if members != "" {
		edits = append(edits, prependEdit(params, members[:len(members)-1]))
	}
	return edits
}

// prependEdit returns the edit that adds members at the start of an object.
func prependEdit(object jsonscan.Value, members string) frame.Edit {
	if members != "" && !object.IsEmpty() {
		members += ","
	}
	return frame.Edit{Part: object.Bytes()[:1], Token: []byte("{" + members)}
}

// askClient sends the client the questions in an answer of a 2026-07-28 server. It returns false if
// the answer has no questions.
func (c *conn) askClient(call *call, f *frame.Frame) bool {
	result := jsonscan.ValueOf(f.Result)
	if result.Member("resultType").Text() != "input_required" {
		return false
	}
	h := c.server.h
	q := &inquiry{call: call}
	if state := result.Member("requestState"); state != "" {
		q.state = `"requestState":` + string(state) + ","
	}
	if call.rounds++; call.rounds > maxRounds {
		h.failCall(call, "server "+c.server.ID+": it asks again and again")
		return true
	}
	h.mu.Lock()
	call.asking = true
	h.mu.Unlock()
	var lines [][]byte
	for key, entry := range result.Member("inputRequests").Members() {
		q.left++
		own := strconv.AppendQuote(nil, string(f.ID)+"."+strconv.Itoa(q.left)) // this id is free, because a server of this version sends no requests
		id := c.registerRequest(&request{on: c, id: own, inquiry: q, key: string(key), method: entry.Member("method").Text()})
		params := entry.Member("params").Bytes()
		if message := entry.Member("params").Member("message"); entry.Member("method").Text() == "elicitation/create" && message.Kind() == jsonscan.String {
			params = frame.SpliceAll(params, c.prefixEdit(message))
		} else if len(params) == 0 {
			params = []byte("{}")
		}
		lines = append(lines, mcp.RequestLine(id, string(entry.Member("method")), params))
	}
	if len(lines) == 0 {
		c.resumeCall(q)
	}
	for _, line := range lines {
		h.writeToClient(line)
	}
	return true
}

// takeInquiryAnswer handles the client's answer to a question of an inquiry. If the client answers
// a form with an error, this is treated as the answer "cancel". An error for any other question
// fails the call.
func (h *hub) takeInquiryAnswer(r *request, f *frame.Frame) {
	q, answer := r.inquiry, f.Result
	if f.Error != nil && r.method == "elicitation/create" {
		answer = []byte(`{"action":"cancel"}`)
	} else if f.Error != nil {
		h.failCall(q.call, "the client has not answered what server "+r.on.server.ID+" asks")
		return
	}
	h.mu.Lock()
	if len(q.answers) > 0 {
		q.answers = append(q.answers, ',')
	}
	q.answers = append(append(append(q.answers, r.key...), ':'), answer...)
	q.left--
	done := q.left == 0
	h.mu.Unlock()
	if done {
		r.on.resumeCall(q)
	}
}

// resumeCall sends the call again with the client's answers.
func (c *conn) resumeCall(q *inquiry) {
	c.server.postJob(job{starts: true, run: func(on *conn, _ error) {
		if on == c {
			q.call.again(q.state + `"inputResponses":{` + string(q.answers) + `},`)
		} else {
			c.server.h.failCall(q.call, "server "+c.server.ID+": it ended")
		}
	}})
}

// failCall answers a call with an error, in place of its server.
func (h *hub) failCall(c *call, why string) {
	if h.finishCall(c) {
		h.writeToClient(mcp.UnreachedAnswer(c.id, why))
	}
}

// handleSubscription handles a subscribe or unsubscribe request of an earlier version for a server
// of 2026-07-28. It returns false for any other request.
func (c *conn) handleSubscription(call *call, f *frame.Frame, edits []frame.Edit) bool {
	if f.Method != "resources/subscribe" && f.Method != "resources/unsubscribe" {
		return false
	}
	token := jsonscan.ValueOf(f.Params).Member("uri").Bytes()
	if i := slices.IndexFunc(edits, func(e frame.Edit) bool { return &e.Part[0] == &token[0] }); i >= 0 {
		token = edits[i].Token
	}
	uri := jsonscan.ValueOf(token).Text()
	if f.Method == "resources/subscribe" {
		id := c.expectAnswer(asker{call: call, open: true})
		c.subscribed, c.listens[uri] = true, id
		c.queueRequest("subscriptions/listen", c.requestParams(`"notifications":{"resourceSubscriptions":[`+string(quoteJSON(uri))+`]}`), id)
		return true
	}
	if id := c.listens[uri]; id != nil {
		delete(c.listens, uri)
		c.queueLine(c, mcp.CancelNotification(id, "nobody listens any more"))
		c.flushLines() // the cancellation goes out before the client gets its answer
		c.claimAsker(id)
	}
	c.subscribedNow(call)
	return true
}

// subscribedNow answers a subscribe or unsubscribe request with an empty result, which means
// success.
func (c *conn) subscribedNow(call *call) {
	if c.server.h.finishCall(call) {
		c.server.h.writeToClient(mcp.ResultLine(call.id, []byte("{}")))
	}
}
