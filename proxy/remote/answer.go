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

// handleAnswer carries the reply to rt back.
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
		u.failRequests(rt, "the server answered something else than the request") // unless it did answer
	case IsAcceptance(resp) && u.isListening():
		u.awaitElsewhere(rt, resp)
	case IsAcceptance(resp) || err == nil:
		u.failRequests(rt, "the server gave no answer ("+StatusText(resp)+")")
	default:
		u.failRequests(rt, err.Error())
	}
}

// IsSuccess reports a status whose body may be an answer. MCP has 200 alone; some servers say 201.
func IsSuccess(resp *http.Response) bool { return resp.StatusCode >= 200 && resp.StatusCode <= 299 }

// IsAcceptance reports a status behind which there is no answer, unless there is a body.
func IsAcceptance(resp *http.Response) bool {
	return resp.StatusCode == http.StatusAccepted || resp.StatusCode == http.StatusNoContent
}

// handleErrorStatus handles a status that is no answer: a JSON-RPC error in the body is
// the server's word, under the id of the request.
func (u *Upstream) handleErrorStatus(rt *roundTrip, resp *http.Response) {
	_, _ = AnswerType(resp) // takes off an encoding
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

// ownResult gives the result of rt, which nobody but us waits for.
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

// resultFor reads messages until the result of rt.
func (u *Upstream) resultFor(rt *roundTrip, next func() ([]byte, error)) ([]byte, error) {
	const most = 16 // messages before it
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

// receiveFrame hands a frame of the server's on, and notes what it says of the session.
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
		if named := NameError(line, only, u.o.Limits); named != nil { // the pump does not know which request it came with
			u.noteNamed(line, named)
			line = named
		}
	}
	for _, said := range u.withoutUnnamed(rt, line) {
		for _, f := range u.parseAnswers(rt, said) {
			u.observeAnswers(rt, h, &f)
		}
		u.deliverLine(said) // whatever it is: the pump repairs it, or refuses and records it
	}
}

// noteNamed records an error that got the id of the request it came with.
func (u *Upstream) noteNamed(came, named []byte) {
	u.o.Note("repaired", fmt.Sprintf("an error without the id of its request was given that: of what came sha256 is %x, of what went on %x", sha256.Sum256(came), sha256.Sum256(named)))
}

// observeAnswers notes the answers that change what is sent later.
func (u *Upstream) observeAnswers(rt *roundTrip, h http.Header, f *frame.Frame) {
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
		u.bound.learnTools(f.Result)
	}
}

// requestOf gives the request that f answers, and the key of its id; the id may be written in
// another way. u.mu is held.
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

// isListening reports that the server's own stream is open, or about to be.
func (u *Upstream) isListening() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.session.listening
}

// awaitElsewhere waits for the answer to a request that was only accepted: some servers give
// it on their own stream, which MCP does not have them do. It ends with that stream, and in
// any case.
func (u *Upstream) awaitElsewhere(rt *roundTrip, resp *http.Response) {
	look := time.NewTicker(u.o.Patience/4 + 1)
	defer look.Stop()
	late := time.NewTimer(elsewhereFactor * u.o.Patience)
	defer late.Stop()
	for u.isListening() {
		select {
		case <-rt.answered.ch:
			return
		case <-rt.ctx.Done():
			return
		case <-late.C:
			u.failRequests(rt, "the server answered "+StatusText(resp)+", and nothing on its own stream")
			return
		case <-look.C:
		}
	}
	u.failRequests(rt, "the server answered "+StatusText(resp)+", and its own stream ended without the answer")
}

// ReadBody reads the body of a server's answer, of most bytes. A byte order mark before it says
// what JSON is anyway.
func ReadBody(resp *http.Response, most int) ([]byte, error) {
	data, err := ReadAll(io.LimitReader(resp.Body, int64(most)+1), resp.ContentLength)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the server's answer broke off: %w", err)
	case len(data) > most:
		return nil, fmt.Errorf("the server's answer is longer than %d bytes", most)
	}
	return bytes.TrimPrefix(data, []byte("\uFEFF")), nil
}

// ContentType gives the kind of a message's body as strictly as requests are read, application/json or text/event-stream; an error
// says why it must not be read. A server that says one thing and sends another is not
// guessed at.
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

// maxEvent bounds an event: the data of one frame, and its fields.
func (u *Upstream) maxEvent() int { return u.o.Limits.MaxBytes + 64<<10 }
