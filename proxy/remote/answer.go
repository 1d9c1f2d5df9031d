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

// answer carries the reply to x back.
func (u *Upstream) answer(x *exchange, resp *http.Response) {
	if !okay(resp) {
		u.declined(x, resp)
		return
	}
	what, err := contentType(resp.Header)
	switch {
	case err != nil:
		u.fail(x, err.Error())
	case what == "text/event-stream":
		u.follow(x, resp)
	default:
		body, err := u.body(resp)
		if err != nil {
			u.fail(x, err.Error())
			return
		}
		u.arrived(x, resp.Header, body)
		u.fail(x, "the server answered something else than the request") // unless it did answer
	}
}

// declined handles a status that is no answer: a JSON-RPC error in the body is
// the server's word, under the id of the request.
func (u *Upstream) declined(x *exchange, resp *http.Response) {
	body, err := u.body(resp)
	if err == nil {
		if f, err := frame.Parse(oneLine(body), u.o.Limits); err == nil && f.Kind == frame.Response && f.Error != nil {
			if frame.IDKey(f.ID) != key(&x.frame) { // of an error before the id was read
				f.Raw = mcp.Relayed(x.frame.ID, f.Error)
			}
			u.arrived(x, resp.Header, f.Raw)
			return
		}
	}
	u.fail(x, "the server answered "+Status(resp))
}

// quietAnswer is the result of x, which nobody but us waits for.
func (u *Upstream) quietAnswer(x *exchange, resp *http.Response) ([]byte, error) {
	if !okay(resp) {
		return nil, errors.New(Status(resp))
	}
	what, err := contentType(resp.Header)
	if err != nil {
		return nil, err
	}
	if what == "text/event-stream" {
		in := inlet{events: sse.NewReader(resp.Body, u.maxEvent())}
		return u.resultFor(x, in.next)
	}
	body, err := u.body(resp)
	return u.resultFor(x, func() ([]byte, error) {
		said := body
		body = nil
		return said, err
	})
}

// resultFor reads messages until the result of x.
func (u *Upstream) resultFor(x *exchange, next func() ([]byte, error)) ([]byte, error) {
	const most = 16 // messages before it
	for range most {
		data, err := next()
		if err != nil {
			return nil, err
		}
		f, err := frame.Parse(oneLine(data), u.o.Limits)
		if err == nil && f.Kind == frame.Response && frame.IDKey(f.ID) == key(&x.frame) && f.Result != nil {
			return f.Result, nil
		}
	}
	return nil, errors.New("no answer to " + x.frame.Method)
}

// arrived hands a frame of the server's on, and notes what it says of the session.
func (u *Upstream) arrived(x *exchange, h http.Header, data []byte) {
	line := oneLine(data)
	if len(line) == 0 {
		return
	}
	f, err := frame.Parse(line, u.o.Limits)
	if err == nil {
		u.observe(x, h, &f)
	}
	u.deliver(line) // whatever it is: the pump refuses and records what is no frame
}

// observe notes the answers that change what is sent later.
func (u *Upstream) observe(x *exchange, h http.Header, f *frame.Frame) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for i := range f.Elements {
		if f.Elements[i].Kind == frame.Response {
			u.answered(x, h, &f.Elements[i])
		}
	}
	if f.Kind == frame.Response {
		u.answered(x, h, f)
	}
}

// answered notes one answer, which may come on another stream than its own.
// u.mu is held.
func (u *Upstream) answered(x *exchange, h http.Header, f *frame.Frame) {
	id := key(f)
	if x == nil || x.open[id] == nil {
		x = u.inFlight[id]
	}
	if x == nil || x.open[id] == nil {
		return
	}
	if delete(x.open, id); len(x.open) == 0 {
		x.told.now()
	}
	switch {
	case f.Result == nil:
	case x.frame.Method == "initialize":
		u.session.opened(h, f.Result)
		u.session.begun()
	case x.frame.Method == "tools/list":
		u.bound.learn(f.Result)
	}
}

// body reads a JSON body within the bounds.
func (u *Upstream) body(resp *http.Response) ([]byte, error) {
	most := int64(u.o.Limits.MaxBytes)
	data, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the server's answer broke off: %w", err)
	case int64(len(data)) > most:
		return nil, fmt.Errorf("the server's answer is longer than %d bytes", most)
	}
	return data, nil
}

// contentType is the kind of a body, and why it must not be read. A server that
// says one thing and sends another is not guessed at.
func contentType(h http.Header) (string, error) {
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
