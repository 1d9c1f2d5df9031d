package model

import (
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/clawai/clawai/internal/wire/modelapi"
	"github.com/clawai/clawai/internal/wire/sse"
)

// maxHeld is how many bytes of a stream may wait for a decision.
const maxHeld = 16 << 20

// heldBody is the body of a stream for the client. It holds calls back until they are judged.
// Everything before a call passes at once.
type heldBody struct {
	*turn
	body    io.Closer
	events  *sse.Reader
	stream  *modelapi.Stream
	out     []byte      // bytes that Read may return
	waiting []heldEvent // held events; the first of them begins a call
	size    int         // total size of the events in waiting, in bytes
	calls   []*modelapi.Call
	renamed map[*modelapi.Call]string // the names for refused calls of this stream
	judging chan judgement            // channel for the result of the running judgement; nil if none runs
	ended   error                     // error that Read returns after out is empty
	failed  bool                      // clawai has ended the stream because of an error
	begun   bool                      // a call has begun and is not complete
}

type heldEvent struct {
	*sse.Event
	places []modelapi.Place
}

type judgement struct {
	renamed map[*modelapi.Call]string
	err     error
}

// holdBody returns a heldBody for the client.
func (t *turn) holdBody(from io.Reader, body io.Closer) io.ReadCloser {
	return &heldBody{turn: t, body: body, events: newEvents(from), stream: modelapi.NewStream(t.api), renamed: map[*modelapi.Call]string{}}
}

// newEvents returns a reader of a service's events. It waits for the LF after a CR, because some
// services end lines in CRLF, which may come in two parts.
func newEvents(from io.Reader) *sse.Reader {
	events := sse.NewReader(from, modelapi.MaxText)
	events.AwaitLF()
	return events
}

// Close closes the service's body. A running judgement ends by itself with the context of the
// request.
func (h *heldBody) Close() error { return h.body.Close() }

// Read returns released events. It returns all events that have come so far together, because each
// Read causes a separate write to the client.
func (h *heldBody) Read(p []byte) (int, error) {
	for len(h.out) == 0 || h.judging == nil && h.ended == nil && len(h.out) < len(p) && h.events.HasEvent() {
		switch {
		case h.judging != nil:
			h.awaitJudgement()
		case h.ended != nil:
			return 0, h.ended
		default:
			h.readEvent()
		}
	}
	n := copy(p, h.out)
	h.out = h.out[n:]
	return n, nil
}

// awaitJudgement waits for the decision, at most for KeepAlive. If there is none by then, Read
// returns a keep-alive event for the client.
func (h *heldBody) awaitJudgement() {
	select {
	case j := <-h.judging:
		h.judging = nil
		if j.err != nil {
			h.failStream(j.err)
			return
		}
		for c, name := range j.renamed {
			h.renamed[c] = name
		}
		h.releaseEvents()
	case <-time.After(h.o.KeepAlive):
		h.out = keepAlive(h.api)
	}
}

// readEvent reads one event of the service.
func (h *heldBody) readEvent() {
	e, err := h.events.ReadEvent()
	switch {
	case errors.Is(err, io.EOF):
		h.endStream()
		return
	case err != nil && !errors.Is(err, sse.ErrTooLong):
		h.ended = err
		return
	case err != nil:
		h.failStream(err)
		return
	}
	h.takeEvent(e)
}

// takeEvent parses an event. It holds the event, or starts the judgement of complete calls, or
// releases the event.
func (h *heldBody) takeEvent(e *sse.Event) {
	var step modelapi.Step
	var err error
	if err = checkPlain(e); err == nil && e.HasData {
		step, err = h.stream.ReadEvent(e.Name, e.Data)
		h.begun = step.Hold
	}
	if err == nil {
		err = h.takeStep(&step)
	}
	if err != nil {
		h.noteUnread("server", "a reply: "+err.Error(), len(e.Raw))
		h.failStream(err)
		return
	}
	h.waiting = append(h.waiting, heldEvent{e, step.Places})
	h.size += len(e.Raw)
	h.calls = append(h.calls, step.Calls...)
	switch {
	case h.size > maxHeld:
		h.noteUnread("server", "a reply: its calls are longer than clawai holds", h.size)
		h.failStream(errors.New("its calls are longer than clawai holds"))
	case h.begun: // every event waits behind an open call, even an event without data such as a comment
	case len(h.calls) > 0:
		h.startJudging()
	default:
		h.releaseEvents()
	}
}

// checkPlain returns an error if some clients could parse an event differently. It also checks an
// event without data, because another client may find data in it.
func checkPlain(e *sse.Event) error {
	if !e.Plain && len(bytes.TrimSpace(e.Raw)) > 0 {
		return errors.New("an event can be read in two ways")
	}
	return nil
}

// startJudging passes the complete calls to the gate, in another goroutine.
func (h *heldBody) startJudging() {
	var raw []byte
	for _, e := range h.waiting {
		raw = append(raw, e.Raw...)
	}
	calls, done := h.calls, make(chan judgement, 1)
	h.calls, h.judging = nil, done
	go func() {
		if err := h.awaitWhole(); err != nil {
			done <- judgement{nil, err}
			return
		}
		renamed, err := h.judgeCalls(h.ctx, calls, raw)
		done <- judgement{renamed, err}
	}()
}

// releaseEvents moves the waiting events to out. It replaces the names of refused calls in them.
func (h *heldBody) releaseEvents() {
	var came []byte
	from, edited := len(h.out), map[*modelapi.Call]string{}
	for _, e := range h.waiting {
		data, err := h.renameCalls(e.Data, e.places, h.renamed)
		switch {
		case err != nil:
			h.failStream(err)
			return
		case bytes.Equal(data, e.Data):
			h.out = append(h.out, e.Raw...)
		default:
			h.out = append(h.out, replaceData(e.Event, data)...)
			for _, p := range e.places {
				if name := h.renamed[p.Call]; name != "" {
					edited[p.Call] = name
				}
			}
		}
		if len(h.renamed) > 0 {
			came = append(came, e.Raw...)
		}
	}
	if len(edited) > 0 {
		if err := h.noteEdit("server", came, h.out[from:], renamedWords(edited)...); err != nil {
			h.out = h.out[:from]
			h.failStream(err)
			return
		}
	}
	h.waiting, h.size = nil, 0
}

// replaceData returns an event with other data. If the old data is one line, all other bytes of the
// event stay the same. It replaces only a data field, because a comment or an id may contain the
// same text.
func replaceData(e *sse.Event, data []byte) []byte {
	at := 0
	for line := range bytes.Lines(e.Raw) {
		if before, after, found := bytes.Cut(line, e.Data); found && isDataField(before) && !bytes.ContainsAny(data, "\r\n") {
			out := append(bytes.Clone(e.Raw[:at]), before...)
			return append(append(append(out, data...), after...), e.Raw[at+len(line):]...)
		}
		at += len(line)
	}
	changed := *e
	changed.Data = data
	return changed.AppendBlock(nil)
}

// isDataField reports whether a line with this beginning is a data field.
func isDataField(begin []byte) bool { return string(begin) == "data:" || string(begin) == "data: " }

// endStream handles the end of the service's stream. It judges the calls that are still open.
func (h *heldBody) endStream() {
	h.ended = io.EOF
	if rest := h.events.Rest(); len(rest.Raw) > 0 {
		if len(rest.Data) > 0 || checkPlain(rest) != nil { // some clients read an event even if its end is missing
			h.takeEvent(rest)
			if h.judging != nil || h.failed {
				return
			}
		} else {
			h.waiting = append(h.waiting, heldEvent{Event: rest})
		}
	}
	step := h.stream.Finish()
	h.calls = append(h.calls, step.Calls...)
	if len(h.calls) > 0 {
		h.startJudging()
		return
	}
	h.releaseEvents()
}

// failStream ends the stream with an error in the form of the service. It drops the waiting events.
func (h *heldBody) failStream(err error) {
	h.waiting, h.size, h.calls, h.failed = nil, 0, nil, true
	h.out = append(h.out, errorEvent(h.api, err.Error())...)
	if h.ended = io.EOF; errors.Is(err, errGone) {
		h.ended = err
	}
}
