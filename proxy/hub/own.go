package hub

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/proxy"
	"github.com/tidwall/gjson"
)

// own is the server that the hub itself is to its client: what is no other server's is
// asked of it, through the gate like everything, and it answers.
type own struct {
	h          *hub
	receives   sync.Mutex // guards what follows: one goroutine at a time
	fromClient *proxy.Stream
	sends      sync.Mutex // guards what follows: one goroutine at a time
	fromUs     *proxy.Stream
	asked      chan frame.Frame
	later      chan func() // what waits for lists
	lists      sync.WaitGroup
	open       atomic.Int64 // requests that have no answer yet
}

func newOwn(h *hub) *own {
	o := &own{h: h, asked: make(chan frame.Frame, 256), later: make(chan func(), 256)}
	session := proxy.NewSession(proxy.Options{Gate: h.o.Gate, Guess: "hub", Limits: h.o.Limits, DenyAsError: h.o.DenyAsError})
	o.fromClient = session.Stream(mcp.ClientToServer, "", (*asked)(o), h.out.Aside())
	o.fromUs = session.Stream(mcp.ServerToClient, "", h.out, (*asked)(o))
	return o
}

// receive has the gate look at what is no server's.
func (o *own) receive(look func(fromClient *proxy.Stream)) {
	o.receives.Lock()
	defer o.receives.Unlock()
	look(o.fromClient)
}

// asked takes what the gate has let through.
type asked own

// Add hands over one frame.
func (a *asked) Add(line []byte) error {
	f, err := frame.Parse(line, a.h.o.Limits)
	if err != nil || f.Kind == frame.Response {
		return err // nothing was asked
	}
	if f.Kind == frame.Request {
		a.open.Add(1)
	}
	if version, _ := stated(f.Params); f.Method == "initialize" && version == "" { // what the client says next may be in the same read
		a.h.noteClient(f.Params)
	}
	select {
	case a.asked <- f:
	case <-a.h.ctx.Done():
	}
	return nil
}

// Flush has nothing to do.
func (a *asked) Flush() {}

// run answers until the session ends.
func (o *own) run() {
	defer o.lists.Wait()
	for {
		select {
		case f := <-o.asked:
			if f.Kind == frame.Request {
				o.handle(&f)
			} else if f.Method == "notifications/cancelled" {
				o.h.unlisten(jsonscan.Of(f.Params).Member("requestId"))
			}
		case run := <-o.later:
			o.lists.Go(run)
		case <-o.h.ctx.Done():
			return
		}
	}
}

func (o *own) handle(f *frame.Frame) {
	defer o.open.Add(-1)
	if why := o.refuses(f); why != nil {
		o.fail(f, why)
		return
	}
	if k, ok := kindOf(f.Method); ok {
		o.open.Add(1)
		o.lists.Go(func() {
			defer o.open.Add(-1)
			if line := result(f, o.complete(f, o.h.merged(k))); len(line) <= o.h.o.Limits.MaxBytes {
				o.answer(f, line)
			} else {
				o.failure(f, mcp.CodeGone, "what all servers list is too long together")
			}
		})
		return
	}
	switch f.Method {
	case "initialize":
		o.initialize(f)
	case "server/discover":
		o.discover(f)
	case "subscriptions/listen":
		o.listen(f)
	case "ping":
		o.result(f, []byte("{}"))
	case "logging/setLevel":
		o.setLevel(f)
		o.result(f, []byte("{}"))
	case "tools/call", "prompts/get":
		o.failure(f, -32602, "no server has "+jsonscan.Of(f.Params).Member("name").Text()+"; names are as the list gives them: SERVER__NAME")
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		code := -32002
		if o.h.isModern() {
			code = -32602
		}
		o.failure(f, code, "no server has "+jsonscan.Of(f.Params).Member("uri").Text())
	case "completion/complete":
		o.failure(f, -32602, "no server has what shall be completed")
	case "tasks/get", "tasks/result", "tasks/cancel", "tasks/update":
		o.failure(f, -32602, "no server has this task")
	default:
		o.failure(f, -32601, f.Method+" is nothing that this hub hands on")
	}
}

// versions are those that a client may ask for.
var versions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

// initialize answers at once: no server is needed for it.
func (o *own) initialize(f *frame.Frame) {
	o.h.mu.Lock()
	version := o.h.client.version
	o.h.mu.Unlock()
	b := []byte(`{"protocolVersion":"` + version + `",` + offers + `,"serverInfo":{"name":"clawai hub","version":`)
	b = gjson.AppendJSONString(b, o.h.o.Version)
	o.result(f, append(b, `}}`...))
}

// noteClient notes what the client says of itself, the first time it does.
func (h *hub) noteClient(params []byte) {
	version := jsonscan.Of(params).Member("protocolVersion").Text()
	if !slices.Contains(versions, version) {
		version = versions[len(versions)-1]
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.client.params == nil {
		h.client.params, h.client.version = append([]byte{}, params...), version
	}
}

// setLevel tells those servers that have said that they log, and those to come.
func (o *own) setLevel(f *frame.Frame) {
	level := jsonscan.Of(f.Params).Member("level")
	if level.Kind() != jsonscan.String {
		return
	}
	o.h.mu.Lock()
	o.h.client.level = append([]byte{}, level.Bytes()...)
	o.h.mu.Unlock()
	for _, s := range o.h.all() {
		s.post(job{carries: f, run: func(on *conn, _ error) { on.setLevel(level.Bytes()) }})
	}
}

func (o *own) result(f *frame.Frame, of []byte) { o.say(result(f, o.complete(f, of))) }

func result(f *frame.Frame, of []byte) []byte {
	line := append(append(append([]byte(`{"jsonrpc":"2.0","id":`), f.ID...), `,"result":`...), of...)
	return append(line, '}')
}

func (o *own) failure(f *frame.Frame, code int, text string) {
	o.fail(f, appendError(nil, code, text))
}

func (o *own) fail(f *frame.Frame, why []byte) {
	line := append(append([]byte(`{"jsonrpc":"2.0","id":`), f.ID...), `,"error":`...)
	o.answer(f, append(append(line, why...), '}'))
}

// answer sends the client what is no server's message, or of which each server's part has
// crossed the gate as that server's: judged as the hub's it would meet the rules, limits and
// labels of a server without a name. It is recorded before it goes.
func (o *own) answer(f *frame.Frame, line []byte) {
	ref, here := o.fromClient.Settle(f.ID)
	if !here {
		return // the client has taken its request back
	}
	err := o.h.o.Gate.Note(&event.Event{
		Kind: event.Outcome, Ref: ref, ServerGuess: "hub", Direction: mcp.ServerToClient.String(), Method: f.Method, ID: f.ID, Bytes: len(line),
		IsError: jsonscan.Of(line).Member("error") != "",
	})
	if err != nil {
		line = mcp.Unreached(f.ID, "the answer could not be recorded; tell the owner")
	}
	o.h.tell(line)
}

// say sends the client a message of the hub's own.
func (o *own) say(line []byte) {
	o.sends.Lock()
	defer o.sends.Unlock()
	o.fromUs.Handle(o.h.ctx, line)
}

// changes tells the client of lists that have changed, once for all that change within a
// moment.
type changes struct {
	hub     *hub
	mu      sync.Mutex // guards what follows
	waiting map[string]*time.Timer
	over    bool
}

// coalesce is how long a change waits for others of its kind.
const coalesce = 200 * time.Millisecond

func (c *changes) note(k kind) {
	method := "notifications/" + k.changes() + "/list_changed"
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over || c.waiting[method] != nil {
		return
	}
	if c.waiting == nil {
		c.waiting = map[string]*time.Timer{}
	}
	c.waiting[method] = time.AfterFunc(coalesce, func() {
		c.mu.Lock()
		delete(c.waiting, method)
		over := c.over
		c.mu.Unlock()
		if !over {
			c.hub.changed(k.changes(), method)
		}
	})
}

func (c *changes) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	for _, t := range c.waiting {
		t.Stop()
	}
}
