package hub

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/proxy"
)

// conn is a server that runs, with what is in flight. Ids are the connection's own, so that
// an answer can be to nobody but who asked there.
type conn struct {
	server     *server
	up         proxy.Upstream
	since      time.Time
	fromClient *proxy.Stream     // used by the server's goroutine alone
	fromServer *proxy.Stream     // used by read alone
	ended      chan struct{}     // closed when the server writes nothing more
	subscribed bool              // the server has been asked to report by itself
	logs       bool              // it has said that it logs
	level      []byte            // that it was told; nil: none
	listens    map[string][]byte // ids of ours by resources, for a client of an earlier version
	meta       []byte            // of requests of ours since 2026-07-28; nil: it speaks an earlier version
	together   [][]byte          // for the server, and not handed to the gate yet; its goroutine's alone
	size       int               // of those, in bytes

	recalled  bool         // it is to what was kept: no server runs
	catalogue Catalogue    // where what the server lists is kept; nil: nowhere
	hears     atomic.Int32 // answers that are to be kept as they come

	modernClient bool        // the client is of 2026-07-28
	modern       atomic.Bool // the server is

	mu     sync.Mutex // guards what follows
	last   int        // the last id
	asked  map[string]asker
	tokens map[string][]byte   // of the client, by our own
	theirs map[string]string   // what requests of the server are to the client, by frame.IDKey of their ids
	heard  map[string][][]byte // answers as they came, by method: results, nil for an error

	keeping sync.Mutex  // guards what follows, and the catalogue
	said    said        // what is kept there
	relists [kinds]bool // what was listed again, or is about to be
}

// asker is who awaits an answer: the client's call, or the hub.
type asker struct {
	call *call
	hub  chan<- frame.Frame // with room for one; closed when none comes
	open bool               // for as long as the connection lasts
	kept string             // the method of an answer that is kept as it comes; "": it is not
	came bool               // that something came in its place, which the gate has yet to let through
	said []byte             // what came last: a result, nil for an error
}

// request is a request of the server's to the client.
type request struct {
	on        *conn
	id, token []byte // as the server has them; no token: nil

	of          *inquiry // that it is a part of; nil for a request by itself
	key, method string   // of it
}

func newConn(s *server, up proxy.Upstream) *conn {
	c := &conn{
		server: s, up: up, since: time.Now(), ended: make(chan struct{}),
		asked: map[string]asker{}, tokens: map[string][]byte{}, theirs: map[string]string{}, listens: map[string][]byte{},
	}
	s.h.mu.Lock()
	c.modernClient = s.h.client.meta != nil
	client := mcp.ClientOfInitialize(s.h.client.params).Name
	s.h.mu.Unlock()
	options := proxy.Options{Gate: s.h.o.Gate, Name: s.ID, Limits: s.h.o.Limits, DenyAsError: s.h.o.DenyAsError}
	if s.h.o.LongestLine != nil {
		options.LongestLine = func(string) int { return s.h.o.LongestLine(client) } // whose initialize is the hub's own
	}
	session := proxy.NewSession(options)
	toServer := proxy.NewWriter(up)
	c.fromClient = session.NewStream(mcp.ClientToServer, "", toServer, (*toClient)(c))
	c.fromServer = session.NewStream(mcp.ServerToClient, "", (*toClient)(c), toServer.AsyncSink())
	go c.readServer()
	return c
}

// readServer takes what the server says.
func (c *conn) readServer() {
	defer close(c.ended)
	r := frame.NewReader(c.up, c.server.h.o.Limits.MaxBytes)
	var together [][]byte // what came in one read
	handle := func() {
		c.fromServer.HandleLines(c.server.h.ctx, together...)
		clear(together)
		together = together[:0]
	}
	for {
		line, err := r.ReadLine()
		if err == nil {
			hears := c.hears.Load() > 0
			if hears { // what it says must cross before the next is heard
				handle()
				c.collectAnswers(line)
			}
			if together = append(together, line); hears || !r.HasLine() {
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

// endedSignal gives closed when the server writes nothing more, although it may live on, and when it has
// ended; never when there is none.
func (c *conn) endedSignal() (quiet, gone <-chan struct{}) {
	if c == nil {
		return nil, nil
	}
	return c.ended, c.up.Done()
}

// howItEnded is for people, when the rest of what it wrote has been read.
func (c *conn) howItEnded() string {
	waitFor(c.ended, drainGrace)
	waitFor(c.up.Done(), drainGrace) // it may be about to
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

// expectAnswer takes the next id.
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

// sendRequest sends a call of the client's, with another id and progress token, and edits.
func (c *conn) sendRequest(of *call, f *frame.Frame, edits []frame.Edit) {
	if c.meta != nil && !c.modernClient {
		if c.handleSubscription(of, f, edits) {
			return
		}
		of.again = func(members string) { c.sendCall(of, f, edits, members) }
	}
	c.sendCall(of, f, edits, "")
}

// sendCall is request with more members of params, for a server of 2026-07-28.
func (c *conn) sendCall(of *call, f *frame.Frame, edits []frame.Edit, members string) {
	h := c.server.h
	id := c.expectAnswer(asker{call: of})
	h.mu.Lock()
	withdrawn := of.withdrawn
	if !withdrawn {
		of.on, of.ownID, of.asking = c, id, false
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
		if edits = c.legacyEdits(of, f, edits); edits == nil {
			return
		}
	} else if of.token != nil {
		edits = append(edits, frame.Edit{Part: of.token, Token: id})
	}
	c.subscribed = c.subscribed || f.Method == "resources/subscribe"
	c.queueLine(c, frame.SpliceAll(f.Raw, edits...))
}

// queueLine passes a message on that is meant for the connection of, with those that have come
// with it.
func (c *conn) queueLine(of *conn, line []byte) {
	if c != of {
		return
	}
	c.together, c.size = append(c.together, line), c.size+len(line)
	if c.size > maxBytesTogether {
		c.flushLines()
	}
}

// flushLines hands what has come together to the gate.
func (c *conn) flushLines() {
	if c == nil || len(c.together) == 0 {
		return
	}
	c.fromClient.HandleLines(c.server.h.ctx, c.together...)
	clear(c.together)
	c.together, c.size = c.together[:0], 0
}

// claimAsker gives who asked under an id of ours; ok once.
func (c *conn) claimAsker(id []byte) (a asker, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok = c.asked[string(id)]
	delete(c.asked, string(id))
	if a.kept != "" {
		c.hears.Add(-1)
	}
	if a.came {
		if c.heard == nil {
			c.heard = map[string][][]byte{}
		}
		c.heard[a.kept] = append(c.heard[a.kept], a.said)
	}
	return a, ok
}

// dropCall forgets a call that was taken back.
func (c *conn) dropCall(id []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.asked, string(id))
	delete(c.tokens, string(id))
}

// requestAnswer sends a request of the hub's own; its answer comes on the channel, which has room for
// it and is closed when none comes.
func (c *conn) requestAnswer(method string, params []byte, answer chan<- frame.Frame) {
	a := asker{hub: answer}
	if _, list := kindOf(method); c.catalogue != nil && (list || method == "initialize" || method == "server/discover") {
		a.kept = method
		c.hears.Add(1)
	}
	c.queueRequest(method, params, c.expectAnswer(a))
}

func (c *conn) queueRequest(method string, params, id []byte) {
	line := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	line = append(append(line, `,"method":"`+method+`"`...), `,"params":`...)
	c.queueLine(c, append(append(line, params...), '}'))
	c.flushLines() // this goroutine may be about to wait for the answer
}

// awaitAnswer gives the answer to a request of ours.
func (c *conn) awaitAnswer(answer <-chan frame.Frame, method string, within time.Duration) (f frame.Frame, err error) {
	late := time.NewTimer(within)
	defer late.Stop()
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
	case <-late.C:
		return f, fmt.Errorf("it did not answer %s within %s", method, within)
	case <-c.server.ctx.Done():
		return f, c.server.endReason()
	}
}

// introduceClient does what a client does first, in the client's name.
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
	case f.Error != nil: // perhaps it knows 2026-07-28 alone
		o := jsonscan.ValueOf(params)
		if modern, err := c.discoverVersion(requestMeta(o.Member("capabilities"), o.Member("clientInfo"))); modern || err != nil {
			return err
		}
		return errors.New("it refused to begin a session")
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

// setLevel sets what a server logs that has said that it does.
func (c *conn) setLevel(level []byte) {
	if c.logs {
		c.level = level
		c.requestAnswer("logging/setLevel", append(append([]byte(`{"level":`), level...), '}'), make(chan frame.Frame, 1))
	}
}

// isBusy says that somebody waits for the server, or it for the client.
func (c *conn) isBusy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.subscribed || c.hasOutstandingLocked()
}

// hasOutstanding says that an answer is outstanding, on either side.
func (c *conn) hasOutstanding() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hasOutstandingLocked()
}

// hasOutstandingLocked is awaited while c.mu is held.
func (c *conn) hasOutstandingLocked() bool {
	n := len(c.theirs)
	for _, a := range c.asked {
		if !a.open {
			n++
		}
	}
	return n > 0
}

// endConnection tells everybody who waits that the server is gone, and the client what it need not
// answer any more.
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
			c.fromClient.WithdrawRequest([]byte(id)) // a person is being asked about it
		}
		f, err := frame.Parse(mcp.UnreachedAnswer([]byte(id), "server "+c.server.ID+": "+why), h.o.Limits)
		if err != nil {
			panic(err) // our own words
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
		if r != nil && r.of != nil {
			h.failCall(r.of.of, "server "+c.server.ID+": "+why)
		}
		if !c.modernClient { // which was asked in an answer
			h.writeToClient(mcp.CancelNotification([]byte(key), "the server that asked is gone"))
		}
	}
	h.endWatches(c, nil)
}
