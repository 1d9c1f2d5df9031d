package model

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/modelapi"
)

// otherStreams are the media types of streams that clawai cannot read.
var otherStreams = map[string]bool{
	"application/x-ndjson": true, "application/ndjson": true, "application/jsonl": true, "application/x-jsonlines": true, "application/stream+json": true,
	"application/json-seq": true, "application/vnd.amazon.eventstream": true, "multipart/mixed": true,
}

// watchResponse prepares the judgement of a reply. With Judge, the calls in the reply are held.
// Otherwise a copy of the reply is read while the reply passes.
func (s *Server) watchResponse(resp *http.Response) error {
	t := turnOf(resp.Request.Context())
	if t.passing != nil && !t.passing.whole.Load() { // without this, net/http would discard the rest of the request
		_ = t.begin.EnableFullDuplex()
		resp.Header.Set("Connection", "close") // otherwise an unread rest of this request could be read as the next request
	}
	for _, name := range []string{"Content-Type", "Date"} { // without this, net/http would add these headers if the service has not sent them
		if _, has := resp.Header[name]; !has {
			resp.Header[name] = nil
		}
	}
	if t.o.Judge && resp.StatusCode/100 == 3 && resp.Header.Get("Location") != "" {
		_ = resp.Body.Close()
		return &refusal{http.StatusBadGateway, "the service sends the client to another address, where nothing would be judged; give that one as --upstream"}
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	streamed := kind == "text/event-stream"
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil
	}
	if t.api == modelapi.NoAPI {
		if t.o.Judge && (streamed || otherStreams[kind]) {
			_ = resp.Body.Close()
			return &refusal{http.StatusBadGateway, "the service streams a reply to a path on which clawai knows no replies, so its calls would not be judged"}
		}
		return nil
	}
	coding := strings.Join(append(resp.Header.Values("Content-Encoding"), otherCharset(resp.Header.Get("Content-Type"))...), ", ")
	if !streamed || !isPlain(coding) { // in a stream without encoding, only the parts that may hold a call wait
		if err := t.awaitWhole(); err != nil {
			_ = resp.Body.Close()
			return err
		}
	}
	if !t.o.Judge {
		resp.Body = t.hearBody(resp.Body, coding, streamed)
		return nil
	}
	decoded, err := decodeBody(resp.Body, coding)
	if err != nil {
		_ = resp.Body.Close()
		t.noteUnread("server", "a reply: "+err.Error(), 0)
		return &refusal{http.StatusBadGateway, "the reply cannot be judged: " + err.Error()}
	}
	if coding != "" {
		resp.Header.Del("Content-Encoding")
		resp.Header.Del("Content-Length")
		resp.ContentLength = -1
	}
	if streamed {
		resp.Header.Del("Content-Length")
		resp.ContentLength = -1
		resp.Body = t.holdBody(decoded, resp.Body)
		return nil
	}
	return t.judgeBody(resp, decoded)
}

// otherCharset returns the character encoding of a reply if it is not UTF-8, and nil otherwise. A
// client that decodes the reply with another encoding may find calls where this package finds none.
func otherCharset(kind string) []string {
	_, parameters, err := mime.ParseMediaType(kind)
	charset := parameters["charset"]
	switch strings.ToLower(charset) {
	case "":
		if err != nil && strings.Contains(strings.ToLower(kind), "charset") {
			return []string{kind}
		}
		return nil
	case "utf-8", "utf8", "us-ascii", "ascii":
		return nil
	}
	return []string{charset}
}

// judgeBody judges a reply that is no stream.
func (t *turn) judgeBody(resp *http.Response, decoded io.Reader) error {
	defer func(body io.Closer) { _ = body.Close() }(resp.Body)
	body, err := io.ReadAll(io.LimitReader(decoded, modelapi.MaxText+1))
	if err != nil {
		return &refusal{http.StatusBadGateway, "the reply was cut off"}
	}
	if len(body) == 0 {
		resp.Body = http.NoBody
		return nil
	}
	step, err := modelapi.ReadReply(t.api, body)
	if err != nil {
		t.noteUnread("server", "a reply: "+err.Error(), len(body))
		return &refusal{http.StatusBadGateway, "the reply cannot be judged: " + err.Error()}
	}
	if err := t.takeStep(&step); err != nil {
		return err
	}
	renamed, err := t.judgeCalls(t.ctx, step.Calls, body)
	if err != nil {
		return err
	}
	sent, err := t.renameCalls(body, step.Places, renamed)
	if err == nil && len(renamed) > 0 {
		err = t.noteEdit("server", body, sent, renamedWords(renamed)...)
	}
	if err != nil {
		return err
	}
	body = sent
	resp.Body = io.NopCloser(bytes.NewReader(body))
	resp.ContentLength = int64(len(body))
	resp.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return nil
}

// renameCalls replaces the names of refused calls in a body, or in the data of an event.
func (t *turn) renameCalls(body []byte, places []modelapi.Place, renamed map[*modelapi.Call]string) ([]byte, error) {
	var edits []frame.Edit
	for _, p := range places {
		name := renamed[p.Call]
		switch {
		case name == "":
		case p.Call.Fixed || p.Name == "":
			return nil, &refusal{http.StatusBadRequest, fmt.Sprintf("%s is refused, and this service gives no way to say so to the model", p.Call.Name)}
		default:
			edits = append(edits, frame.Edit{Part: p.Name.Bytes(), Token: t.nameOf(name, p.Name)})
		}
	}
	if len(edits) == 0 {
		return body, nil
	}
	return frame.SpliceAll(body, edits...), nil
}

// renamedWords returns descriptions of the renamed calls for the record.
func renamedWords(renamed map[*modelapi.Call]string) (all []string) {
	for c := range renamed {
		all = append(all, "rename "+c.Name)
	}
	slices.Sort(all)
	return all
}

// takeStep handles the parts of a reply that are not calls. It records unread parts and passes
// results of the service's own tools to the gate.
func (t *turn) takeStep(step *modelapi.Step) error {
	for _, kind := range step.Unread {
		if t.noteOnce("part " + kind) {
			t.noteUnread("server", "parts of the kind "+kind, 0)
		}
	}
	for i := range step.Hosted {
		if _, err := t.takeResult(&step.Hosted[i], nil); err != nil {
			return err
		}
	}
	return nil
}

// hearing is a body that passes unchanged, while another goroutine reads a copy of it.
type hearing struct {
	io.ReadCloser
	copy  *io.PipeWriter
	ended chan struct{}
	last  []byte // bytes that were passed on but not yet copied
	*turn
	over error  // the error at the end of the service's body; Read returns it after all bytes
	end  []byte // the last bytes that were passed on, for mayAsk
	asks bool   // the bytes so far may hold a call
}

// hearBody returns a body that passes unchanged. A part is copied only when the next part is
// requested, so that no part is delayed.
func (t *turn) hearBody(body io.ReadCloser, coding string, streamed bool) io.ReadCloser {
	from, to := io.Pipe()
	h := &hearing{ReadCloser: body, copy: to, ended: make(chan struct{}), turn: t, asks: !streamed || !isPlain(coding)}
	go func() {
		defer close(h.ended)
		err := t.outliveClient().readCopy(from, coding, streamed) // the client may have the reply
		if err != nil {
			t.noteUnread("server", "a reply: "+err.Error(), 0)
		}
		_ = from.CloseWithError(io.ErrClosedPipe) // the rest is passed on without a copy
	}()
	return h
}

// Read copies the part that it returned last, and then reads the next part.
func (h *hearing) Read(p []byte) (int, error) {
	if len(h.last) > 0 {
		_, _ = h.copy.Write(h.last) // an error means that the copy is not read any more
		h.last = h.last[:0]
	}
	if h.over != nil {
		h.endCopy()
		return 0, h.over
	}
	n, err := h.ReadCloser.Read(p)
	h.over = err
	h.end = append(h.end, p[:n]...)
	if h.asks = h.asks || mayAsk(h.end); h.asks {
		if lost := h.awaitWhole(); lost != nil {
			h.over = io.EOF
			return copy(p, errorEvent(h.api, lost.Error())), nil
		}
	}
	h.end = h.end[max(0, len(h.end)-len("tool")):]
	h.last = append(h.last, p[:n]...)
	if err != nil && h.asks { // copied at once, because the client may run its calls as soon as it has the end of the reply
		_, _ = h.copy.Write(h.last)
		h.endCopy()
	}
	return n, nil
}

// Close copies the last part and ends the copy. The client may have this part even if it has hung
// up.
func (h *hearing) Close() error {
	if len(h.last) > 0 {
		_, _ = h.copy.Write(h.last)
	}
	h.endCopy()
	return h.ReadCloser.Close()
}

func (h *hearing) endCopy() {
	h.last = nil
	_ = h.copy.Close()
	<-h.ended
}

// maxHeard is how many bytes of a reply are decoded at most.
const maxHeard = 256 << 20

// readCopy reads the copy of a reply and passes its parts to the gate.
func (t *turn) readCopy(from io.Reader, coding string, streamed bool) error {
	body, err := decodeBody(from, coding)
	if err != nil {
		return err
	}
	body = &io.LimitedReader{R: body, N: maxHeard}
	if !streamed {
		text, err := io.ReadAll(io.LimitReader(body, modelapi.MaxText+1))
		if err != nil || len(bytes.TrimSpace(text)) == 0 {
			return err
		}
		step, err := modelapi.ReadReply(t.api, text)
		if err != nil {
			return err
		}
		return t.hearStep(&step, text)
	}
	events, stream := newEvents(body), modelapi.NewStream(t.api)
	for {
		e, err := events.ReadEvent()
		if err != nil {
			if rest := events.Rest(); errors.Is(err, io.EOF) && (len(rest.Data) > 0 || checkPlain(rest) != nil) {
				return errors.New("its last event has no end")
			}
			step := stream.Finish()
			if err := t.hearStep(&step, nil); err != nil || errors.Is(err, io.EOF) {
				return err
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := checkPlain(e); err != nil {
			return err
		}
		if !e.HasData {
			continue
		}
		step, err := stream.ReadEvent(e.Name, e.Data)
		if err == nil {
			err = t.hearStep(&step, e.Raw)
		}
		if err != nil {
			return err
		}
	}
}

// hearStep passes a part of the copied reply to the gate. The gate's decisions are only recorded,
// because the client already has the part and may run its calls.
func (t *turn) hearStep(step *modelapi.Step, raw []byte) error {
	if err := t.takeStep(step); err != nil {
		return err
	}
	_, err := t.judgeCalls(t.ctx, step.Calls, raw)
	return err
}
