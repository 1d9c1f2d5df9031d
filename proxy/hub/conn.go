package hub

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/proxy"
)

// conn is the connection to a running server, with its requests in flight. A request id is unique
// in its connection. So an answer can only reach the caller that asked on this connection.
type conn struct {
	server     *server
	up         proxy.Upstream
	since      time.Time         // time at which the connection was made
	fromClient *proxy.Stream     // used only by the server's goroutine
	fromServer *proxy.Stream     // used only by readServer
	ended      chan struct{}     // closed when the server's output has ended
	subscribed bool              // the client has a resource subscription at this server
	logs       bool              // the server has the logging capability
	level      []byte            // log level that the hub has set at the server; nil if it has set none
	listens    map[string][]byte // ids of the hub's listen requests, by resource URI; only for a client of an earlier version
	meta       []byte            // _meta of requests to a server of 2026-07-28; nil for a server of an earlier version
	together   [][]byte          // messages for the server that the gate will get together; used only by the server's goroutine
	size       int               // bytes in together

	recalled  bool         // the connection leads to a player of kept answers, and no server runs
	catalogue Catalogue    // store for the server's lists; nil if the lists are not kept
	toKeep    atomic.Int32 // number of answers that have not come yet and that the hub will keep as they are before the gate changes them

	modernClient bool        // the client speaks 2026-07-28
	modern       atomic.Bool // the server speaks 2026-07-28

	mu       sync.Mutex          // guards the fields below
	last     int                 // the last request id
	asked    map[string]asker    // askers whose answer has not come, by the connection's request id
	tokens   map[string][]byte   // the client's progress tokens, by the connection's request ids
	theirs   map[string]string   // the server's requests to the client: from frame.IDKey of the server's id to frame.IDKey of the client's id
	buffered map[string][][]byte // answers as they were before the gate changed them, by method: a result, or nil for an error

	keeping sync.Mutex  // guards the fields below and the catalogue
	cached  keptAnswers // the contents of the catalogue
	relists [kinds]bool // kinds that relistOnce has handled
}

// asker is the party that asked the server: a call of the client, or the hub itself.
type asker struct {
	call   *call
	hub    chan<- frame.Frame // channel for the answer to a request of the hub; it has room for one answer and is closed when no answer comes
	open   bool               // the request gets its answer only when the connection or the listen ends
	kept   string             // method of the request if its answer is kept in the server's form; "" if it is not kept
	came   bool               // an answer to keep has come, but the gate has not yet let it through
	latest []byte             // the latest answer to keep: a result, or nil for an error
}

// request is a server's request to the client.
type request struct {
	on        *conn
	id, token []byte // the server's id and progress token; token is nil if there is none

	inquiry     *inquiry // the inquiry that contains the request; nil if the server sent it as a request
	key, method string   // for an inquiry: the key in inputRequests, and the method
}

func newConn(s *server, up proxy.Upstream) *conn {
	c := &conn{
		server: s, up: up, since: time.Now(), ended: make(chan struct{}),
		asked: map[string]asker{}, tokens: map[string][]byte{}, theirs: map[string]string{}, listens: map[string][]byte{}, buffered: map[string][][]byte{},
	}
	s.h.mu.Lock()
	c.modernClient = s.h.client.meta != nil
	client := mcp.ClientOfInitialize(s.h.client.params).Name
	s.h.mu.Unlock()
	options := proxy.Options{Gate: s.h.o.Gate, Name: s.ID, Limits: s.h.o.Limits, DenyAsError: s.h.o.DenyAsError}
	if s.h.o.LongestLine != nil {
		options.LongestLine = func(string) int { return s.h.o.LongestLine(client) } // the session sees no initialize of the client, only the hub's own
	}
	session := proxy.NewSession(options)
	toServer := proxy.NewWriter(up)
	c.fromClient = session.NewStream(mcp.ClientToServer, "", toServer, (*toClient)(c))
	c.fromServer = session.NewStream(mcp.ServerToClient, "", (*toClient)(c), toServer.AsyncSink())
	go c.readServer()
	return c
}

// readServer reads the server's output until the output ends.
func (c *conn) readServer() {
	defer close(c.ended)
	r := frame.NewReader(c.up, c.server.h.o.Limits.MaxBytes)
	var together [][]byte // lines of one read from the server
	handle := func() {
		c.fromServer.HandleLines(c.server.h.ctx, together...)
		clear(together)
		together = together[:0]
	}
	for {
		line, err := r.ReadLine()
		if err == nil {
			keeps := c.toKeep.Load() > 0
			if keeps { // the gate must handle each line before the next line is collected
				handle()
				c.collectAnswers(line)
			}
			if together = append(together, line); keeps || !r.HasLine() {
				handle()
			}
			continue
		}
		handle()
		refusal, ok := errors.AsType[*frame.Refusal](err)
		if !ok {
			return
		}
		c.fromServer.RefuseLine(c.server.h.ctx, r.RefusedHead(), refusal)
	}
}

// endedSignal returns two channels. The channel quiet is closed when the server's output has ended,
// even if the server still runs. The channel gone is closed when the server has ended. Both are nil
// for a nil conn.
func (c *conn) endedSignal() (quiet, gone <-chan struct{}) {
	if c == nil {
		return nil, nil
	}
	return c.ended, c.up.Done()
}

// howItEnded returns a text for people: how the server ended. First it waits for the rest of the
// server's output.
func (c *conn) howItEnded() string {
	proxy.WaitFor(c.ended, drainGrace)
	proxy.WaitFor(c.up.Done(), drainGrace) // the process may end a moment after its output
	select {
	case <-c.up.Done():
		return "it ended: " + c.up.Status()
	default:
		return "it closed its output"
	}
}

func (c *conn) isOver() bool {
	select {
	case <-c.ended:
		return true
	case <-c.up.Done():
		return true
	default:
		return false
	}
}

// expectAnswer returns the next request id and stores the asker under this id.
func (c *conn) expectAnswer(a asker) (id []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	id = strconv.AppendInt(nil, int64(c.last), 10)
	c.asked[string(id)] = a
	if a.call != nil && a.call.token != nil {
		c.tokens[string(id)] = a.call.token
	}
	return id
}

// sendRequest sends a call of the client. It applies the edits to the call's frame f and replaces
// the client's id and progress token by those of the connection.
func (c *conn) sendRequest(call *call, f *frame.Frame, edits []frame.Edit) {
	if c.meta != nil && !c.modernClient {
		if c.handleSubscription(call, f, edits) {
			return
		}
		call.again = func(members string) { c.sendCall(call, f, edits, members) }
	}
	c.sendCall(call, f, edits, "")
}

// sendCall sends a call for the first time, or again (round.again). members are JSON members that
// it adds to the params for a server of 2026-07-28.
func (c *conn) sendCall(call *call, f *frame.Frame, edits []frame.Edit, members string) {
	h := c.server.h
	id := c.expectAnswer(asker{call: call})
	h.mu.Lock()
	withdrawn := call.withdrawn
	if !withdrawn {
		call.on, call.ownID, call.asking = c, id, false
	}
	h.mu.Unlock()
	if withdrawn {
		c.dropCall(id)
		return
	}
	edits = append(slices.Clip(edits), frame.Edit{Part: f.ID, Token: id})
	if c.meta != nil && !c.modernClient {
		edits = append(edits, c.modernizeRequest(f, members)...)
	}
	if c.modernClient && c.meta == nil {
		if edits = c.legacyEdits(call, f, edits); edits == nil {
			return
		}
	} else if call.token != nil {
		edits = append(edits, frame.Edit{Part: call.token, Token: id})
	}
	c.subscribed = c.subscribed || f.Method == "resources/subscribe"
	c.queueLine(c, frame.SpliceAll(f.Raw, edits...))
}

// queueLine queues a message for the server. The parameter target is the connection for which the
// message was made. If c is another connection, queueLine drops the message.
func (c *conn) queueLine(target *conn, line []byte) {
	if c != target {
		return
	}
	c.together, c.size = append(c.together, line), c.size+len(line)
	if c.size > maxBytesTogether {
		c.flushLines()
	}
}

// flushLines passes the queued messages to the gate.
func (c *conn) flushLines() {
	if c == nil || len(c.together) == 0 {
		return
	}
	c.fromClient.HandleLines(c.server.h.ctx, c.together...)
	clear(c.together)
	c.together, c.size = c.together[:0], 0
}

// claimAsker removes and returns the asker of a request id of this connection. ok is false for an
// unknown id. For a known id, ok is true only the first time.
func (c *conn) claimAsker(id []byte) (a asker, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok = c.asked[string(id)]
	delete(c.asked, string(id))
	if a.kept != "" {
		c.toKeep.Add(-1)
	}
	if a.came {
		c.buffered[a.kept] = append(c.buffered[a.kept], a.latest)
	}
	return a, ok
}

// dropCall removes a withdrawn call.
func (c *conn) dropCall(id []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.asked, string(id))
	delete(c.tokens, string(id))
}

// requestAnswer sends a request of the hub. The answer comes on the channel `answer`. The channel
// must have room for the answer. It is closed when no answer comes.
func (c *conn) requestAnswer(method string, params []byte, answer chan<- frame.Frame) {
	a := asker{hub: answer}
	if _, list := kindOf(method); c.catalogue != nil && (list || method == "initialize" || method == "server/discover") {
		a.kept = method
		c.toKeep.Add(1)
	}
	c.queueRequest(method, params, c.expectAnswer(a))
}

func (c *conn) queueRequest(method string, params, id []byte) {
	c.queueLine(c, mcp.RequestLine(id, `"`+method+`"`, params))
	c.flushLines() // flushed at once, because the caller may wait for the answer in the goroutine that flushes
}

// awaitAnswer waits for the answer to a request of the hub. The parameter within is the time limit.
func (c *conn) awaitAnswer(answer <-chan frame.Frame, method string, within time.Duration) (f frame.Frame, err error) {
	select {
	case f, ok := <-answer:
		if !ok {
			return f, errors.New("it refused to begin a session")
		}
		return f, nil
	case <-c.ended:
		return f, errors.New(c.howItEnded())
	case <-c.up.Done():
		return f, errors.New(c.howItEnded())
	case <-time.After(within):
		return f, fmt.Errorf("it did not answer %s within %s", method, within)
	case <-c.server.ctx.Done():
		return f, c.server.endReason()
	}
}

// introduceClient begins the session with the server. It sends server/discover, or initialize with
// the client's description of itself.
func (c *conn) introduceClient() error {
	h := c.server.h
	h.mu.Lock()
	params, meta, version, level := h.client.params, h.client.meta, h.client.version, h.client.level
	h.mu.Unlock()
	if modern, err := c.discoverVersion(meta); modern || err != nil {
		return err
	}
	if v := jsonscan.ValueOf(params).Member("protocolVersion"); v.Text() != version && v != "" {
		params = frame.SplicePart(params, v.Bytes(), []byte(`"`+version+`"`))
	}
	answer := make(chan frame.Frame, 1)
	c.requestAnswer("initialize", params, answer)
	f, err := c.awaitAnswer(answer, "initialize", c.server.Timeout)
	switch {
	case err != nil:
		return err
	case f.Error != nil: // the error may mean that the server knows only 2026-07-28
		o := jsonscan.ValueOf(params)
		if modern, err := c.discoverVersion(requestMeta(o.Member("capabilities"), o.Member("clientInfo"))); modern || err != nil {
			return err
		}
		return beginError(f.Error)
	case mcp.NegotiatedVersion(f.Result) == "":
		return errors.New("its answer to initialize names no version")
	}
	c.noteIntroduction("initialize", f.Result)
	c.logs = jsonscan.ValueOf(f.Result).Member("capabilities").Member("logging") != ""
	c.queueLine(c, []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	c.flushLines()
	if level != nil && !c.recalled {
		c.setLevel(level)
	}
	return nil
}

// beginError returns the error for a server that answered initialize with an error. If our
// transport could not reach the server, the transport itself made this answer. Then the error has
// the transport's text.
func beginError(answer []byte) error {
	failed := jsonscan.ValueOf(answer)
	if string(failed.Member("code").Bytes()) == strconv.Itoa(mcp.CodeGone) {
		if _, why, ok := strings.Cut(strings.TrimSuffix(failed.Member("message").Text(), "."), ": "); ok {
			return errors.New(why)
		}
	}
	return errors.New("it refused to begin a session")
}

// setLevel sets the log level of a server that has the logging capability.
func (c *conn) setLevel(level []byte) {
	if c.logs {
		c.level = level
		c.requestAnswer("logging/setLevel", append(append([]byte(`{"level":`), level...), '}'), make(chan frame.Frame, 1))
	}
}

// hasOutstanding reports whether the server or the client still has to answer a request.
func (c *conn) hasOutstanding() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.asked {
		if !a.open {
			return true
		}
	}
	return len(c.theirs) > 0
}

// endConnection ends the work on a connection whose server is gone: it answers all waiting callers
// with an error and cancels the server's requests to the client.
func (c *conn) endConnection(why string) {
	h := c.server.h
	c.flushLines()
	c.mu.Lock()
	asked, theirs := c.asked, c.theirs
	c.asked, c.theirs = map[string]asker{}, map[string]string{}
	c.mu.Unlock()
	for id, a := range asked {
		if a.hub != nil {
			close(a.hub)
			continue
		}
		if c.fromClient.FailRequest([]byte(id), why) == nil {
			c.fromClient.WithdrawRequest([]byte(id)) // takes the call back if it still waits for a person
		}
		f, err := frame.Parse(mcp.UnreachedAnswer([]byte(id), "server "+c.server.ID+": "+why), h.o.Limits)
		if err != nil {
			panic(err) // cannot happen, because the hub itself made this frame
		}
		if line := h.concludeCall(a.call, &f); line != nil {
			h.writeToClient(line)
		}
	}
	for _, key := range theirs {
		h.mu.Lock()
		r := h.theirs[key]
		delete(h.theirs, key)
		h.mu.Unlock()
		if r != nil && r.inquiry != nil {
			h.failCall(r.inquiry.call, "server "+c.server.ID+": "+why)
		}
		if !c.modernClient { // a modern client got the question in an answer, so there is no request to cancel
			h.writeToClient(mcp.CancelNotification([]byte(key), "the server that asked is gone"))
		}
	}
	h.endWatches(c, nil)
}
