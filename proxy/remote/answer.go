package remote

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/clawai/clawai/proxy/frame"
	"github.com/clawai/clawai/proxy/mcp"
	"github.com/clawai/clawai/proxy/remote/sse"
)

// handleAnswer carries the reply to rt back.
func (u *Upstream) handleAnswer(rt *roundTrip, resp *http.Response) {
	if !isOK(resp) {
		u.handleErrorStatus(rt, resp)
		return
	}
	what, err := ContentType(resp.Header)
	switch {
	case err != nil:
		u.fail(rt, err.Error())
	case what == "text/event-stream":
		u.readStream(rt, resp)
	default:
		body, err := u.readBody(resp)
		if err != nil {
			u.fail(rt, err.Error())
			return
		}
		u.receive(rt, resp.Header, body)
		u.fail(rt, "the server answered something else than the request") // unless it did answer
	}
}

// handleErrorStatus handles a status that is no answer: a JSON-RPC error in the body is
// the server's word, under the id of the request.
func (u *Upstream) handleErrorStatus(rt *roundTrip, resp *http.Response) {
	body, err := u.readBody(resp)
	if err == nil {
		if f, err := frame.Parse(OneLine(body), u.o.Limits); err == nil && f.Kind == frame.Response && f.Error != nil {
			if frame.IDKey(f.ID) != key(&rt.frame) { // of an error before the id was read
				f.Raw = mcp.Relayed(rt.frame.ID, f.Error)
			}
			u.receive(rt, resp.Header, f.Raw)
			return
		}
	}
	u.fail(rt, "the server answered "+Status(resp))
}

// ownResult is the result of rt, which nobody but us waits for.
func (u *Upstream) ownResult(rt *roundTrip, resp *http.Response) ([]byte, error) {
	if !isOK(resp) {
		return nil, errors.New(Status(resp))
	}
	what, err := ContentType(resp.Header)
	if err != nil {
		return nil, err
	}
	if what == "text/event-stream" {
		in := sseStream{events: sse.NewReader(resp.Body, u.maxEvent())}
		return u.resultFor(rt, in.next)
	}
	body, err := u.readBody(resp)
	return u.resultFor(rt, func() ([]byte, error) {
		said := body
		body = nil
		return said, err
	})
}

// resultFor reads messages until the result of rt.
func (u *Upstream) resultFor(rt *roundTrip, next func() ([]byte, error)) ([]byte, error) {
	const most = 16 // messages before it
	for range most {
		data, err := next()
		if err != nil {
			return nil, err
		}
		f, err := frame.Parse(OneLine(data), u.o.Limits)
		if err == nil && f.Kind == frame.Response && frame.IDKey(f.ID) == key(&rt.frame) && f.Result != nil {
			return f.Result, nil
		}
	}
	return nil, errors.New("no answer to " + rt.frame.Method)
}

// receive hands a frame of the server's on, and notes what it says of the session.
func (u *Upstream) receive(rt *roundTrip, h http.Header, data []byte) {
	line := OneLine(data)
	if len(line) == 0 {
		return
	}
	f, err := frame.Parse(line, u.o.Limits)
	if err == nil {
		u.observe(rt, h, &f)
	}
	u.deliver(line) // whatever it is: the pump refuses and records what is no frame
}

// observe notes the answers that change what is sent later.
func (u *Upstream) observe(rt *roundTrip, h http.Header, f *frame.Frame) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for i := range f.Elements {
		if f.Elements[i].Kind == frame.Response {
			u.noteAnswer(rt, h, &f.Elements[i])
		}
	}
	if f.Kind == frame.Response {
		u.noteAnswer(rt, h, f)
	}
}

// noteAnswer notes one answer, which may come on another stream than its own.
// u.mu is held.
func (u *Upstream) noteAnswer(rt *roundTrip, h http.Header, f *frame.Frame) {
	id := key(f)
	if rt == nil || rt.unanswered[id] == nil {
		rt = u.inFlight[id]
	}
	if rt == nil || rt.unanswered[id] == nil {
		return
	}
	if delete(rt.unanswered, id); len(rt.unanswered) == 0 {
		rt.answered.fire()
	}
	switch {
	case f.Result == nil:
	case rt.frame.Method == "initialize":
		u.session.setNegotiated(h, f.Result)
		u.session.finishInitialize()
	case rt.frame.Method == "tools/list":
		u.bound.learn(f.Result)
	}
}

// readBody reads a JSON body within the bounds.
func (u *Upstream) readBody(resp *http.Response) ([]byte, error) {
	most := int64(u.o.Limits.MaxBytes)
	data, err := ReadAll(io.LimitReader(resp.Body, most+1), resp.ContentLength)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the server's answer broke off: %w", err)
	case int64(len(data)) > most:
		return nil, fmt.Errorf("the server's answer is longer than %d bytes", most)
	}
	return data, nil
}

// ContentType is the kind of a body, application/json or text/event-stream; an error
// says why it must not be read. A server that says one thing and sends another is not
// guessed at.
func ContentType(h http.Header) (string, error) {
	if e := h.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return "", fmt.Errorf("the server's answer is encoded (%.100q), which was not asked for", e)
	}
	what, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || what != "application/json" && what != "text/event-stream" || len(h.Values("Content-Type")) != 1 {
		return "", fmt.Errorf("the server's answer is neither JSON nor an event stream (%.100q)", h.Get("Content-Type"))
	}
	if c := params["charset"]; c != "" && !strings.EqualFold(c, "utf-8") {
		return "", fmt.Errorf("the server's answer is not in UTF-8 (%.100q)", c)
	}
	return what, nil
}

// maxEvent bounds an event: the data of one frame, and its fields.
func (u *Upstream) maxEvent() int { return u.o.Limits.MaxBytes + 64<<10 }
