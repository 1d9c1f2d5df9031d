package remote

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/sse"
)

// handleAnswer reads the HTTP answer to rt and passes on its messages, or fails the requests of rt.
func (u *Upstream) handleAnswer(rt *roundTrip, resp *http.Response) {
	if !IsSuccess(resp) {
		u.handleErrorStatus(rt, resp)
		return
	}
	what, err := AnswerType(resp)
	if err == nil && what == "text/event-stream" {
		u.readStream(rt, resp)
		return
	}
	var body []byte
	if err == nil {
		body, err = ReadBody(resp, u.o.Limits.MaxBytes)
	}
	switch {
	case err == nil && len(bytes.TrimSpace(body)) > 0:
		u.receiveFrame(rt, resp.Header, body)
		u.failRequests(rt, "the server answered something else than the request") // has no effect if the body held the answer
	case IsAcceptance(resp) && u.isListening():
		u.awaitElsewhere(rt, resp)
	case IsAcceptance(resp) || err == nil:
		u.failRequests(rt, "the server gave no answer ("+StatusText(resp)+")")
	default:
		u.failRequests(rt, err.Error())
	}
}

// IsSuccess reports whether the body of an answer with this status may be a JSON-RPC answer. MCP
// allows only 200, but some servers send 201.
func IsSuccess(resp *http.Response) bool { return resp.StatusCode >= 200 && resp.StatusCode <= 299 }

// IsAcceptance reports whether the status means that the server only accepted the message. Then there
// is no answer, unless there is a body.
func IsAcceptance(resp *http.Response) bool {
	return resp.StatusCode == http.StatusAccepted || resp.StatusCode == http.StatusNoContent
}

// handleErrorStatus handles an answer with an error status. If the body holds a JSON-RPC error, the
// client gets this error with the id of its request.
func (u *Upstream) handleErrorStatus(rt *roundTrip, resp *http.Response) {
	_, _ = AnswerType(resp) // called only to decode the body
	body, err := ReadBody(resp, u.o.Limits.MaxBytes)
	if err != nil {
		u.failRequests(rt, "the server answered "+StatusText(resp))
		return
	}
	if said := ServerError(body, rt.frame.ID, u.o.Limits); said != nil && rt.frame.Kind == frame.Request {
		if came := OneLine(body); !bytes.Equal(came, said) {
			u.noteNamed(came, said)
		}
		u.receiveFrame(rt, resp.Header, said)
		return
	}
	u.failRequests(rt, FailureWords(resp, body))
}

// ownResult returns the result of rt, a request of the proxy itself.
func (u *Upstream) ownResult(rt *roundTrip, resp *http.Response) ([]byte, error) {
	if !IsSuccess(resp) {
		return nil, errors.New(StatusText(resp))
	}
	what, err := AnswerType(resp)
	if err != nil {
		return nil, err
	}
	if what == "text/event-stream" {
		in := sseStream{events: sse.NewReader(resp.Body, u.maxEvent())}
		return u.resultFor(rt, in.readEvent)
	}
	body, err := ReadBody(resp, u.o.Limits.MaxBytes)
	return u.resultFor(rt, func() ([]byte, error) {
		said := body
		body = nil
		return said, err
	})
}

// resultFor reads messages until it has the result of rt. The function next returns one message.
func (u *Upstream) resultFor(rt *roundTrip, next func() ([]byte, error)) ([]byte, error) {
	const most = 16 // maximum number of messages to read
	for range most {
		data, err := next()
		if err != nil {
			return nil, err
		}
		for _, f := range u.parseAnswers(rt, OneLine(data)) {
			if f.Kind == frame.Response && f.Result != nil && frame.LooseID(f.ID) == frame.LooseID(rt.frame.ID) {
				return f.Result, nil
			}
		}
	}
	return nil, errors.New("no answer to " + rt.frame.Method)
}

// receiveFrame passes a server's frame on. It also notes the answers in the frame that change the
// session.
func (u *Upstream) receiveFrame(rt *roundTrip, h http.Header, data []byte) {
	line := OneLine(data)
	if len(line) == 0 {
		return
	}
	f, err := frame.Parse(line, u.o.Limits)
	if err == nil && !u.holdsUnnamed(&f) {
		u.observeAnswers(rt, h, &f)
		u.deliverLine(line)
		return
	}
	if only := u.onlyID(rt); only != nil {
		if named := NameError(line, only, u.o.Limits); named != nil { // done here, because the proxy does not know to which request the error belongs
			u.noteNamed(line, named)
			line = named
		}
	}
	for _, said := range u.withoutUnnamed(rt, line) {
		for _, f := range u.parseAnswers(rt, said) {
			u.observeAnswers(rt, h, &f)
		}
		u.deliverLine(said) // the proxy repairs the line, or refuses and records it
	}
}

// noteNamed records that an error without an id got the id of its request.
func (u *Upstream) noteNamed(came, named []byte) {
	u.o.Note("repaired", fmt.Sprintf("an error without the id of its request was given that: of what came sha256 is %x, of what went on %x", sha256.Sum256(came), sha256.Sum256(named)))
}

// observeAnswers notes the answers in f that later requests depend on.
func (u *Upstream) observeAnswers(rt *roundTrip, h http.Header, f *frame.Frame) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for one := range f.Messages {
		if one.Kind == frame.Response {
			u.noteAnswer(rt, h, one)
		}
	}
}

// noteAnswer notes one answer. The answer may come on the stream of a request that it does not
// answer. The caller holds u.mu.
func (u *Upstream) noteAnswer(rt *roundTrip, h http.Header, f *frame.Frame) {
	rt, id := u.requestOf(rt, f)
	if rt == nil {
		return
	}
	if delete(rt.unanswered, id); len(rt.unanswered) == 0 {
		rt.answered.fireOnce()
	}
	switch {
	case f.Result == nil:
	case rt.frame.Method == "initialize":
		u.session.setNegotiated(h, f.Result)
		u.session.finishInitialize()
	case rt.frame.Method == "tools/list":
		u.tools.learnResult(f.Result)
	}
}

// requestOf returns the request that f answers, and the key of its id. The server may have written
// the id in another form. The caller holds u.mu.
func (u *Upstream) requestOf(rt *roundTrip, f *frame.Frame) (*roundTrip, string) {
	id := frame.IDKey(f.ID)
	if rt != nil && rt.unanswered[id] != nil {
		return rt, id
	}
	if other := u.inFlight[id]; other != nil && other.unanswered[id] != nil {
		return other, id
	}
	other, token := u.waitingID(rt, f.ID)
	if other == nil {
		return nil, ""
	}
	return other, frame.IDKey(token)
}

// isListening reports whether the server's own stream is open or is being opened.
func (u *Upstream) isListening() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.session.listening
}

// awaitElsewhere waits for the answer to a request that the server only accepted. Some servers send
// such an answer on their own stream, although MCP does not allow this. The wait ends with that
// stream, or after elsewhereFactor × Patience.
func (u *Upstream) awaitElsewhere(rt *roundTrip, resp *http.Response) {
	look := time.NewTicker(u.o.Patience/4 + 1)
	defer look.Stop()
	late := time.After(elsewhereFactor * u.o.Patience)
	for u.isListening() {
		select {
		case <-rt.answered.ch:
			return
		case <-rt.ctx.Done():
			return
		case <-late:
			u.failRequests(rt, "the server answered "+StatusText(resp)+", and nothing on its own stream")
			return
		case <-look.C:
		}
	}
	u.failRequests(rt, "the server answered "+StatusText(resp)+", and its own stream ended without the answer")
}

// ReadBody reads the body of a server's answer. It returns an error if the body is longer than
// limit bytes. It removes a byte order mark, because JSON is UTF-8 anyway.
func ReadBody(resp *http.Response, limit int) ([]byte, error) {
	data, err := ReadAll(io.LimitReader(resp.Body, int64(limit)+1), resp.ContentLength)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the server's answer broke off: %w", err)
	case len(data) > limit:
		return nil, fmt.Errorf("the server's answer is longer than %d bytes", limit)
	}
	return bytes.TrimPrefix(data, []byte("\uFEFF")), nil
}

// ContentType returns the media type of a message's body, application/json or text/event-stream.
// The error tells why the body must not be read. ContentType is strict, because it is for requests:
// it uses only the header and never guesses.
func ContentType(h http.Header) (string, error) {
	if e := h.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return "", fmt.Errorf("it is encoded (%.100q)", e)
	}
	what, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		what = ""
	}
	if charset := params["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
		return "", fmt.Errorf("it is not in UTF-8 (%.100q)", charset)
	}
	return messageType(h, what)
}

func messageType(h http.Header, what string) (string, error) {
	if what != "application/json" && what != "text/event-stream" || len(h.Values("Content-Type")) != 1 {
		return "", fmt.Errorf("the server's answer is neither JSON nor an event stream (%.100q)", h.Get("Content-Type"))
	}
	return what, nil
}

// maxEvent returns the maximum size in bytes of an event: the data of one frame, and the other
// fields.
func (u *Upstream) maxEvent() int { return u.o.Limits.MaxBytes + 64<<10 }
