package hub

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/proxy"
)

// own answers, in the hub's name, the client's requests that belong to no server. The gate judges
// these requests like all other requests.
type own struct {
	h          *hub
	receives   sync.Mutex // guards fromClient, which one goroutine at a time may use
	fromClient *proxy.Stream
	sends      sync.Mutex // guards fromUs, which one goroutine at a time may use
	fromUs     *proxy.Stream
	asked      chan func()    // jobs for answerRequests, in order
	lists      sync.WaitGroup // goroutines in which a request waits for servers
	open       atomic.Int64   // number of requests without an answer
}

func newOwn(h *hub) *own {
	o := &own{h: h, asked: make(chan func(), 256)}
	session := proxy.NewSession(proxy.Options{Gate: h.o.Gate, Guess: "hub", Limits: h.o.Limits, DenyAsError: h.o.DenyAsError})
	o.fromClient = session.NewStream(mcp.ClientToServer, "", (*ownSink)(o), h.out.AsyncSink())
	o.fromUs = session.NewStream(mcp.ServerToClient, "", h.out, (*ownSink)(o))
	return o
}

// useClientStream calls the function use with the stream for client messages that belong to no
// server. The function runs in only one goroutine at a time.
func (o *own) useClientStream(use func(fromClient *proxy.Stream)) {
	o.receives.Lock()
	defer o.receives.Unlock()
	use(o.fromClient)
}

// ownSink receives the messages to the hub itself after the gate has let them through.
type ownSink own

// Add passes one message to answerRequests.
func (a *ownSink) Add(line []byte) error {
	f, err := frame.Parse(line, a.h.o.Limits)
	if err != nil || f.Kind == frame.Response {
		return err // a response is ignored, because the hub has sent no request on this stream
	}
	if f.Kind == frame.Request {
		a.open.Add(1)
	}
	if version, _ := messageVersion(f.Params); f.Method == "initialize" && version == "" { // done here and not in the job: the next message may come in the same read and needs the client's version
		a.h.noteClient(f.Params)
	}
	(*own)(a).postJob(func() {
		if f.Kind == frame.Request {
			(*own)(a).handleRequest(&f)
		} else if f.Method == "notifications/cancelled" {
			a.h.cancelListen(jsonscan.ValueOf(f.Params).Member("requestId"))
		}
	})
	return nil
}

// postJob passes a job to answerRequests. It returns false when the session has ended.
func (o *own) postJob(job func()) bool {
	select {
	case o.asked <- job:
		return true
	case <-o.h.ctx.Done():
		return false
	}
}

// Flush does nothing, because Add has already passed the message on.
func (a *ownSink) Flush() {}

// answerRequests answers requests until the session ends.
func (o *own) answerRequests() {
	defer o.lists.Wait()
	for {
		select {
		case job := <-o.asked:
			job()
		case <-o.h.ctx.Done():
			return
		}
	}
}

func (o *own) handleRequest(f *frame.Frame) {
	defer o.open.Add(-1)
	if why := o.refusalError(f); why != nil {
		o.sendError(f, why)
		return
	}
	if k, ok := kindOf(f.Method); ok {
		o.open.Add(1)
		o.lists.Go(func() {
			defer o.open.Add(-1)
			if line := mcp.ResultLine(f.ID, o.completeResult(f, o.h.mergeLists(k))); len(line) <= o.h.o.Limits.MaxBytes {
				o.answerClient(f, line)
			} else {
				o.sendErrorCode(f, mcp.CodeGone, "what all servers list is too long together")
			}
		})
		return
	}
	switch f.Method {
	case "initialize":
		o.answerInitialize(f)
	case "server/discover":
		o.answerDiscover(f)
	case "subscriptions/listen":
		o.answerListen(f)
	case "ping":
		o.sendResult(f, []byte("{}"))
	case "logging/setLevel":
		o.setLevel(f)
		o.sendResult(f, []byte("{}"))
	case "tools/call", "prompts/get":
		o.sendErrorCode(f, -32602, "no server has "+jsonscan.ValueOf(f.Params).Member("name").Text()+"; names are as the list gives them: SERVER__NAME")
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		code := -32002
		if o.h.isModern() {
			code = -32602
		}
		o.sendErrorCode(f, code, "no server has "+jsonscan.ValueOf(f.Params).Member("uri").Text())
	case "completion/complete":
		o.sendErrorCode(f, -32602, "no server has what is to be completed")
	case "tasks/get", "tasks/result", "tasks/cancel", "tasks/update":
		o.sendErrorCode(f, -32602, "no server has this task")
	default:
		o.sendErrorCode(f, -32601, f.Method+" is nothing that this hub hands on")
	}
}

// answerInitialize answers at once, because the answer needs no server.
func (o *own) answerInitialize(f *frame.Frame) {
	o.h.mu.Lock()
	version := o.h.client.version
	o.h.mu.Unlock()
	o.sendResult(f, fmt.Appendf(nil, `{"protocolVersion":"%s",`+offers+`,"serverInfo":%s}`, version, hubInfo(o.h.o.Version)))
}

// noteClient stores the client's description from its first initialize.
func (h *hub) noteClient(params []byte) {
	version := mcp.AgreeVersion(jsonscan.ValueOf(params).Member("protocolVersion").Text())
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.client.params == nil {
		h.client.params, h.client.version = append([]byte{}, params...), version
	}
}

// setLevel stores the log level for servers that start later. It also sends the level to the
// running servers that have the logging capability.
func (o *own) setLevel(f *frame.Frame) {
	level := jsonscan.ValueOf(f.Params).Member("level")
	if level.Kind() != jsonscan.String {
		return
	}
	o.h.mu.Lock()
	o.h.client.level = append([]byte{}, level.Bytes()...)
	o.h.mu.Unlock()
	for _, s := range o.h.currentServers() {
		s.postJob(job{carries: f, run: func(on *conn, _ error) { on.setLevel(level.Bytes()) }})
	}
}

func (o *own) sendResult(f *frame.Frame, result []byte) {
	o.sendMessage(mcp.ResultLine(f.ID, o.completeResult(f, result)))
}

func (o *own) sendErrorCode(f *frame.Frame, code int, text string) {
	o.sendError(f, newError(code, text))
}

func (o *own) sendError(f *frame.Frame, why []byte) {
	o.answerClient(f, mcp.ErrorLine(f.ID, why))
}

// answerClient sends the client an answer of the hub. It records the answer first. A merged list
// does not pass the gate again: each server's part has passed it as an answer of that server. A
// second pass would apply rules, limits and labels as if a server without a name had answered.
func (o *own) answerClient(f *frame.Frame, line []byte) {
	ref, here := o.fromClient.SettleRequest(f.ID)
	if !here {
		return // no answer is sent, because the client has cancelled its request
	}
	err := o.h.o.Gate.NoteEvents(&event.Event{
		Kind: event.Outcome, Ref: ref, ServerGuess: "hub", Direction: mcp.ServerToClient.String(), Method: f.Method, ID: f.ID, Bytes: len(line),
		IsError: jsonscan.ValueOf(line).Member("error") != "",
	})
	if err != nil {
		line = mcp.UnreachedAnswer(f.ID, "the answer could not be recorded; tell the owner")
	}
	o.h.writeToClient(line)
}

// sendMessage sends the client a message of the hub through the gate.
func (o *own) sendMessage(line []byte) {
	o.sends.Lock()
	defer o.sends.Unlock()
	o.fromUs.HandleLines(o.h.ctx, line)
}

// changes sends list_changed notifications to the client. If several changes of one topic come
// within a short time (coalesce), the client gets one notification about all of them.
type changes struct {
	hub     *hub
	mu      sync.Mutex      // guards the fields below
	waiting map[string]bool // methods of the notifications that a timer will send
}

// coalesce is how long a change waits for other changes of its topic.
const coalesce = 200 * time.Millisecond

func (c *changes) noteChange(k kind) {
	method := "notifications/" + k.changeTopic() + "/list_changed"
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting[method] {
		return
	}
	c.waiting[method] = true
	time.AfterFunc(coalesce, func() {
		c.mu.Lock()
		delete(c.waiting, method)
		c.mu.Unlock()
		if c.hub.ctx.Err() == nil { // the session may have ended in the meantime
			c.hub.announceChange(k.changeTopic(), method)
		}
	})
}
