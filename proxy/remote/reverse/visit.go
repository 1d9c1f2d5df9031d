package reverse

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/frame"
	"github.com/clawai/clawai/proxy/mcp"
	"github.com/clawai/clawai/proxy/remote"
)

// visit is one HTTP request of a client's.
type visit struct {
	s    *Server
	w    http.ResponseWriter
	r    *http.Request
	at   desk
	back *backend
	rest string // the message address of a server of 2024-11-05

	agent   *agent
	talk    *talk // nil: the message belongs to no session
	scope   string
	frame   frame.Frame
	resumes bool   // a stream that was cut
	place   string // the event that it was cut behind

	goesOn    http.Header      // what passes of the client's headers as it came
	strange   []string         // and what might be missed of the rest
	confirmed remote.Confirmed // what the message says of the others
	out       *responder
	reader    *responder    // who waits for the server's answer; set when it is asked
	from      *proxy.Stream // what the client says
	turn      turn

	unsigned error // why the owner is not signed in
}

var errBatch = errors.New("an array outside of a session that has them")

// post takes one message, or a batch.
func (v *visit) post() {
	done, ok := v.enter()
	if !ok {
		return
	}
	defer done()
	line, ok := v.read()
	if !ok {
		return
	}
	limits := v.s.o.Limits
	limits.AllowBatch = true
	f, err := frame.Parse(line, limits)
	if err == nil {
		v.frame = f
		if v.confirmed = remote.Confirm(v.r.Header, &f, &v.agent.tools); v.confirmed.Differs != "" {
			v.mismatch(v.confirmed.Differs)
			return
		}
	}
	if !v.join() {
		return
	}
	pump := v.agent.pump
	v.out = newResponder(v.w, "")
	defer v.out.hangUp()
	back := proxy.Sink(v.out)
	if v.talk != nil {
		pump, v.out.seen = v.talk.pump, &v.talk.seen
		if v.talk.stream != nil {
			back = v.talk.stream
		}
	}
	if err == nil && v.frame.Kind == frame.Batch && !pump.Batches() {
		err = errBatch
	}
	v.out.id = v.waitsFor(err)
	v.from = pump.Stream(mcp.ClientToServer, v.scope, (*forward)(v), back)
	v.turn.here = v.out.id != "" && !v.elsewhere()
	if err == nil {
		v.from.HandleFrame(v.s.ctx, &v.frame)
	} else {
		v.from.Handle(v.s.ctx, line)
	}
	if carry := v.turn.take(); carry != nil {
		unwatch := context.AfterFunc(v.r.Context(), v.left)
		carry()
		unwatch()
	}
	v.await(err)
}

// waitsFor names the answer that ends the HTTP request.
func (v *visit) waitsFor(unreadable error) string {
	switch {
	case unreadable != nil:
		var refusal *frame.Refusal
		if errors.As(unreadable, &refusal) && refusal.Request && len(refusal.ID) > 0 {
			return frame.IDKey(refusal.ID)
		}
		return ""
	case v.frame.Kind == frame.Request:
		return frame.IDKey(v.frame.ID)
	case v.frame.Kind == frame.Batch && slices.ContainsFunc(v.frame.Elements, func(e frame.Frame) bool { return e.Kind == frame.Request }):
		return "["
	}
	return ""
}

// await ends the HTTP request when its message has been dealt with.
func (v *visit) await(unreadable error) {
	switch {
	case v.out.id != "" && v.elsewhere():
		v.acknowledge() // the answer comes on the other stream
	case v.out.id != "":
		select {
		case <-v.out.ended:
			v.settle()
		case <-v.r.Context().Done():
			v.left()
		case <-v.s.ctx.Done():
		}
	case unreadable != nil:
		v.w.Header().Set("Content-Type", "application/json")
		v.w.Header().Set("Connection", "close")
		v.w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(v.w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"The message cannot be read, or can be read in more than one way; it was not passed on."}}`)
	default:
		v.acknowledge()
	}
}

// settle lets the server finish its stream after the answer.
func (v *visit) settle() {
	select {
	case <-v.out.errand.over():
	case <-v.r.Context().Done():
		v.left()
	case <-v.s.ctx.Done():
	}
}

// left deals with a client that has hung up: the server sees the same. In the
// modern era that cancels the call; before, a call that waits for a person goes
// on waiting, and the client can take its answer up again.
func (v *visit) left() {
	if v.confirmed.Modern {
		v.from.Withdraw(v.frame.ID)
	}
	v.out.hangUp() // what comes now is lost, and said to be
	v.out.errand.hangUp()
}

// acknowledge answers a message that has no answer of its own: with the server's
// status when it was forwarded at once, otherwise with ours.
func (v *visit) acknowledge() {
	t := time.NewTimer(v.s.o.Patience)
	defer t.Stop()
	select {
	case <-v.out.errand.over():
	case <-t.C:
	case <-v.r.Context().Done():
	case <-v.s.ctx.Done():
	}
	v.out.empty(http.StatusAccepted)
}

// read takes the body, within the bounds and in the one form that every server
// reads alike (CVE-2026-33252).
func (v *visit) read() ([]byte, bool) {
	h := v.r.Header
	if what, err := remote.ContentType(h); err != nil || what != "application/json" {
		v.refuse(http.StatusUnsupportedMediaType, "a message is application/json in UTF-8, without an encoding")
		return nil, false
	}
	ctl := http.NewResponseController(v.w)
	_ = ctl.SetReadDeadline(time.Now().Add(v.s.o.Patience))
	body, err := io.ReadAll(http.MaxBytesReader(v.w, v.r.Body, int64(v.s.o.Limits.MaxBytes)))
	if err != nil {
		var long *http.MaxBytesError
		if errors.As(err, &long) {
			v.dropped(frame.CodeTooLong, "the message is too long", nil)
			v.refuse(http.StatusRequestEntityTooLarge, "the message is too long")
		}
		return nil, false
	}
	_ = ctl.SetReadDeadline(time.Time{})
	return remote.OneLine(body), true
}

func (v *visit) refuse(status int, why string) { refuse(v.w, status, why) }

// refuse ends the connection too: what follows on it may be part of what was refused.
func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Connection", "close")
	http.Error(w, why, status)
}

// mismatch is the answer to a header that contradicts the body (MCP 2026-07-28
// basic/transports/streamable-http).
func (v *visit) mismatch(name string) {
	v.dropped("header_mismatch", "the header "+name+" does not say what the body says", v.frame.ID)
	v.w.Header().Set("Content-Type", "application/json")
	v.w.Header().Set("Connection", "close")
	v.w.WriteHeader(http.StatusBadRequest)
	id := string(v.frame.ID)
	if id == "" {
		id = "null"
	}
	_, _ = io.WriteString(v.w, `{"jsonrpc":"2.0","id":`+id+`,"error":{"code":`+strconv.Itoa(v.confirmed.Code)+`,"message":"The header `+name+` does not say what the body says."}}`)
}

// dropped records a message that goes nowhere and does not reach the pump.
func (v *visit) dropped(code, reason string, id []byte) {
	_ = v.agent.gate.Session.Note(&event.Event{
		Kind: event.Dropped, Stage: "frame", Code: code, Reason: reason, ID: id,
		Direction: mcp.ClientToServer.String(), Method: v.frame.Method, Bytes: len(v.frame.Raw),
	})
}

// enter finds the agent session of the path; done ends the visit to it.
func (v *visit) enter() (done func(), ok bool) {
	a, leave, err := v.s.agent(v.at)
	if err != nil {
		v.refuse(http.StatusServiceUnavailable, "clawai cannot take more sessions now; try again later")
		return nil, false
	}
	v.agent = a
	done = func() { v.s.rest(v.talk); leave() }
	if name := v.sift(); name != "" {
		v.dropped("header_twice", "the header "+name+" is there twice", nil)
		v.refuse(http.StatusBadRequest, "the header "+strings.ToValidUTF8(name, "?")+" is there twice")
		done()
		return nil, false
	}
	v.kept()
	return done, true
}

// join finds the session the message belongs to.
func (v *visit) join() bool {
	id := v.r.Header.Get("Mcp-Session-Id")
	switch {
	case v.rest != "":
		v.talk = v.s.talk(v.at, v.message().String())
		if v.talk == nil {
			v.refuse(http.StatusNotFound, "there is no such session; connect again")
		}
		return v.talk != nil
	case v.confirmed.Modern, id == "" && v.frame.Method != "initialize":
		if v.scope = v.about(); v.scope == "" {
			v.scope = v.s.scope()
		}
	case v.frame.Method == "initialize":
		// What a session id means on it is the server's to say.
		if v.talk = v.s.talk(v.at, id); v.talk == nil {
			v.talk = v.s.newTalk(v.agent, v.at.server)
		}
	default:
		if v.talk = v.s.talk(v.at, id); v.talk == nil {
			v.refuse(http.StatusNotFound, "there is no such session; initialize anew")
			return false
		}
	}
	return true
}

// about is the scope of the request that an answer or a cancellation without a
// session is about: a server that knows no sessions may ask its client, too.
func (v *visit) about() (scope string) {
	switch {
	case v.confirmed.Modern:
	case v.frame.Kind == frame.Response:
		return v.agent.pump.Scope(mcp.ServerToClient, v.frame.ID)
	case v.frame.Kind == frame.Notification:
		m, refusal := mcp.Read(&v.frame, mcp.ClientToServer, v.at.server)
		if refusal == nil && m.Cancels != nil {
			return v.agent.pump.Scope(mcp.ClientToServer, m.Cancels)
		}
	}
	return ""
}

// leave ends a session. Without one it is the server's to refuse.
func (v *visit) leave() {
	done, ok := v.enter()
	if !ok {
		return
	}
	defer done()
	id := v.r.Header.Get("Mcp-Session-Id")
	if v.talk = v.s.talk(v.at, id); v.talk == nil && id != "" {
		v.refuse(http.StatusNotFound, "there is no such session")
		return
	}
	resp, err := v.send(v.r.Context(), http.MethodDelete, nil)
	if err != nil {
		v.refuse(http.StatusBadGateway, "the server cannot be reached")
		return
	}
	_ = resp.Body.Close()
	if v.talk != nil && (resp.StatusCode < 300 || resp.StatusCode == http.StatusNotFound) {
		v.s.forget(v.talk)
	}
	v.w.WriteHeader(v.status(resp))
}
