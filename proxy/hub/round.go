package hub

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/proxy"
)

// A client of 2026-07-28 gets no requests. It gets questions in the answer to its own call, and
// sends its answers when it makes the same call again (MCP basic/patterns/mrtr). A server of an
// earlier version sends requests, so the hub stores them here as questions. The server continues
// with the call while the client is away, which means until the client makes the call again.

// round is the state of a call in which the server may ask the client. The hub's mutex guards it,
// except method, params and logs.
type round struct {
	method string
	params []byte
	logs   bool // the client wants log messages

	state string       // requestState that the client will send back; "" while the client waits for an answer
	asks  []question   // questions that the client has not answered
	held  *frame.Frame // answer of the server that came while the client was away
	late  *time.Timer  // timer that ends the call if the client does not return

	asking bool                 // the questions went to a client of an earlier version as requests; no server has the call until the answers come
	rounds int                  // number of answers to this call in which the server has asked
	again  func(members string) // sends the call again, with the given JSON members in its params
}

// question is a server's question to the client. key is the server's request id as a JSON token.
// entry is the member for inputRequests.
type question struct{ key, entry []byte }

// awayFor is how long a client may stay away from its call. maxAsks is the maximum number of open
// questions of a call.
var awayFor = 10 * time.Minute

const maxAsks = 64

// methodCapability returns the client capability that a method needs.
func methodCapability(method string) string {
	switch method {
	case "elicitation/create":
		return "elicitation"
	case "sampling/createMessage":
		return "sampling"
	}
	return "roots"
}

// canBeAsked reports whether the answer to this call may contain a question with this method.
func (c *call) canBeAsked(method string) bool {
	switch c.method {
	case "tools/call", "resources/read", "prompts/get":
	default:
		return false
	}
	_, meta := messageVersion(c.params)
	return meta.Member(mcp.MetaPrefix+"clientCapabilities").Member(methodCapability(method)).Kind() == jsonscan.Object
}

// inquireClient puts a server's request to the client into the answer to a call of the client. The
// gate has already let the request through.
func (c *conn) inquireClient(request []byte) error {
	h := c.server.h
	f, err := frame.Parse(request, h.o.Limits)
	if err != nil {
		return err
	}
	params := f.Params
	if params == nil {
		params = []byte("{}")
	}
	entry := fmt.Appendf(nil, `%s:{"method":"%s","params":%s}`, f.ID, f.Method, params)
	h.mu.Lock()
	call := h.findAsker(c, f.Method)
	var line []byte
	full := call != nil && len(call.asks) >= maxAsks
	if call != nil && !full {
		call.asks = append(call.asks, question{key: slices.Clone(f.ID), entry: entry})
		line = h.parkCall(call)
	}
	h.mu.Unlock()
	switch {
	case call == nil:
		h.failQuestion(f.ID, "this client can be asked with "+f.Method+" only while it waits for a call of its own, and if it has said that it can")
		return nil
	case full:
		h.failQuestion(f.ID, "the client is asked too much at a time")
		return nil
	case line == nil:
		return nil
	}
	c.progressTo(call, nil)
	return h.out.Add(line)
}

// findAsker returns the oldest call whose answer may contain a question with this method. The hub
// cannot know which call the server asks about, but all the calls are from one client. The caller
// holds h.mu.
func (h *hub) findAsker(c *conn, method string) (oldest *call) {
	for _, calls := range []map[string]*call{h.inFlight, h.away} {
		for _, one := range calls {
			if one.on == c && one.held == nil && one.canBeAsked(method) && (oldest == nil || isOlderID(one.ownID, oldest.ownID)) {
				oldest = one
			}
		}
	}
	return oldest
}

// isOlderID reports whether a connection made request id a before id b.
func isOlderID(a, b []byte) bool {
	return len(a) < len(b) || len(a) == len(b) && string(a) < string(b)
}

// parkCall returns the answer with the questions for the client. From then on the client is away.
// It returns nil when the client is away already or there is no question. The caller holds h.mu.
func (h *hub) parkCall(c *call) []byte {
	if c.state != "" || len(c.asks) == 0 {
		return nil
	}
	c.state = rand.Text()
	delete(h.inFlight, c.key)
	h.away[c.state] = c
	state := c.state
	c.late = time.AfterFunc(awayFor, func() { h.abandonCall(state) })
	var entries [][]byte
	for _, q := range c.asks {
		entries = append(entries, q.entry)
	}
	return mcp.ResultLine(c.id, fmt.Appendf(nil, `{"resultType":"input_required","inputRequests":{%s},"requestState":"%s"}`, bytes.Join(entries, []byte{','}), state))
}

// takeReturn handles a request with which a client returns to its call. It returns false for any
// other request. It also returns false if the server itself had put the question into its answer,
// because then the server gets the retry.
func (h *hub) takeReturn(f *frame.Frame, state jsonscan.Value) bool {
	if state.Kind() != jsonscan.String {
		return false
	}
	h.mu.Lock()
	c := h.away[state.Text()]
	var refusal *frame.Refusal
	switch key := frame.IDKey(f.ID); {
	case c == nil:
		h.mu.Unlock()
		return false
	case c.method != f.Method || !mcp.SameCall(c.params, f.Params):
		refusal = &frame.Refusal{
			Code: "other_call", Reason: "what came back with the answer is not the call that was asked about; nothing was done", ID: f.ID, Request: true,
		}
	case h.inFlight[key] != nil || h.own.fromClient.ResponseSink(f.ID) != nil:
		refusal = proxy.DuplicateID(f.ID)
	default:
		c.late.Stop()
		delete(h.away, c.state)
		c.state, c.id, c.key = "", f.ID, key
		h.inFlight[key] = c
	}
	if refusal != nil {
		h.mu.Unlock()
		h.own.useClientStream(func(own *proxy.Stream) { own.RefuseLine(h.ctx, f.Raw, refusal) })
		return true
	}
	answers := c.takeAnswers(jsonscan.ValueOf(f.Params).Member("inputResponses"))
	on := c.on
	h.mu.Unlock()
	if token := mcp.ProgressToken(f.Params); token != "" {
		on.progressTo(c, token.Bytes())
	}
	for _, line := range answers {
		h.answerServer(line)
	}
	h.mu.Lock()
	held := c.held
	c.held = nil
	var line []byte
	if held == nil {
		line = h.parkCall(c) // the client has not answered all questions, or there are new ones
	}
	h.mu.Unlock()
	if line != nil {
		on.progressTo(c, nil)
	}
	if held != nil {
		line = h.concludeCall(c, held)
	}
	if line != nil {
		h.writeToClient(line)
	}
	return true
}

// concludeCall returns the answer to a call, with the id that the client waits for now. It returns
// nil when the client expects no answer. It also returns nil when the client is away: then the hub
// holds the answer until the client returns.
func (h *hub) concludeCall(c *call, f *frame.Frame, edits ...frame.Edit) []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c.state != "" {
		held, err := frame.Parse(frame.SpliceAll(f.Raw, edits...), h.o.Limits)
		if err != nil { // the edits made the answer too long
			held, _ = frame.Parse(mcp.UnreachedAnswer(f.ID, "the answer is too long"), h.o.Limits)
		}
		c.held = &held
		return nil
	}
	if h.inFlight[c.key] != c {
		return nil
	}
	delete(h.inFlight, c.key)
	return frame.SpliceAll(f.Raw, append(edits, frame.Edit{Part: f.ID, Token: c.id})...)
}

// takeAnswers removes the questions that the client has answered. It returns the answers as
// responses to the server's requests. The caller holds h.mu.
func (c *call) takeAnswers(responses jsonscan.Value) (lines [][]byte) {
	c.asks = slices.DeleteFunc(c.asks, func(q question) bool {
		answer := responses.Member(jsonscan.ValueOf(q.key).Text())
		if answer == "" {
			return false
		}
		lines = append(lines, mcp.ResultLine(q.key, answer.Bytes()))
		return true
	})
	return lines
}

// answerServer sends a server the client's answer to the server's request. If the answer cannot be
// parsed, the server gets an error.
func (h *hub) answerServer(line []byte) {
	f, err := frame.Parse(line, h.o.Limits)
	if err != nil {
		h.failQuestion(jsonscan.ValueOf(line).Member("id").Bytes(), "the client's answer is not a result")
		return
	}
	if !h.routeResponse(&f) { // false means that the server has cancelled its request: the gate then records an unsolicited answer
		h.own.useClientStream(func(c *proxy.Stream) { c.HandleFrame(h.ctx, &f) })
	}
}

// failQuestion answers a server's question with an error, in place of the client.
func (h *hub) failQuestion(key []byte, why string) {
	f, err := frame.Parse(mcp.UnheardAnswer(key, why), h.o.Limits)
	if err == nil {
		_ = h.routeResponse(&f)
	}
}

// progressTo sets the progress token for the client's progress messages about a call. With a nil
// token the client gets no progress. A call that came without a progress token stays without one.
func (c *conn) progressTo(call *call, token []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, waits := c.asked[string(call.ownID)]; waits && call.token != nil {
		c.tokens[string(call.ownID)] = token
	}
}

// abandonCall ends a call because its client has not returned.
func (h *hub) abandonCall(state string) {
	h.mu.Lock()
	c := h.away[state]
	delete(h.away, state)
	h.mu.Unlock()
	if c == nil {
		return
	}
	for _, q := range c.asks {
		h.failQuestion(q.key, "it has not come back within "+awayFor.String())
	}
	c.server.postJob(job{run: func(on *conn, _ error) {
		on.queueLine(c.on, mcp.CancelNotification(c.ownID, "its client has not come back"))
		c.on.claimAsker(c.ownID)
	}})
}
