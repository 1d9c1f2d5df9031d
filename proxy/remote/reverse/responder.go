package reverse

import (
	"bytes"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/internal/wire/sse"
	"github.com/clawai/clawai/proxy"
)

// responder is the response to one HTTP request, used as a sink for frames. The first frame decides
// the form of the response. If it is the answer to the request, the response is JSON. Any other
// frame makes it an event stream.
type responder struct {
	mu            sync.Mutex
	w             http.ResponseWriter
	ctl           *http.ResponseController
	id            string        // frame.IDKey of the request; "[" for a batch; "" for a stream of the server's own messages
	status        int           // HTTP status; 0 means 200
	headerWritten bool          // the status and the header have been written
	events        bool          // the server sends an event stream, so this response must be one too
	stream        bool          // the response is an event stream
	hungUp        bool          // the client does not read any more
	told          bool          // the answer was written
	event         *sse.Event    // the event that is being relayed; its data is one line
	final         bool          // the event is the last one in the server's stream
	replays       *replays      // the replays of the session; nil without a session
	patience      time.Duration // time limit of each write; 0 means no limit
	ended         chan struct{} // closed after the answer was written, or when the client does not read any more

	relayed chan struct{} // closed when the server's answer has been passed on; nil until the server is asked
	abort   func()        // aborts the request to the server; nil until the server is asked
}

var _ proxy.Sink = (*responder)(nil)

var errHungUp = errors.New("the client has hung up")

func newResponder(w http.ResponseWriter, id string) *responder {
	return &responder{w: w, ctl: http.NewResponseController(w), id: id, ended: make(chan struct{})}
}

// Add writes one frame.
func (a *responder) Add(line []byte) (err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	last := a.isFinalAnswer(line)
	whole := last && !a.headerWritten && !a.events
	var block []byte
	if !whole {
		block = a.eventBytes(line, last) // the event is needed even after a hang-up, because replays must know that the gate let it through
	}
	if a.hungUp {
		return errHungUp
	}
	if last {
		defer func() { a.told = err == nil; a.signalEnd() }()
	}
	if whole {
		h := a.w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Content-Length", strconv.Itoa(len(line))) // with the length, the client can read the whole answer before the outcome is recorded
		a.writeHeader()
		return a.writeBytes(line)
	}
	if !a.headerWritten {
		if last && a.final && a.event == nil { // the length is known, because this is the last event of a server stream with a known length
			a.w.Header().Set("Content-Length", strconv.Itoa(len(block)))
		}
		a.beginStream()
	}
	return a.writeBytes(block)
}

// Flush does nothing, because Add has already written the frame.
func (a *responder) Flush() {}

// isFinalAnswer reports whether the frame is the answer to the request. It relies on an earlier
// check that no member occurs twice.
func (a *responder) isFinalAnswer(line []byte) bool {
	if a.id == "" {
		return false
	}
	if a.id == "[" {
		return len(line) > 0 && line[0] == '['
	}
	var id []byte
	for name, value := range jsonscan.ValueOf(line).Members() {
		switch name.Text() {
		case "id":
			id = value.Bytes()
		case "method":
			return false
		}
	}
	return id != nil && frame.IDKey(id) == a.id
}

// eventBytes returns the event for a frame. It returns the server's own bytes if the gate has not
// changed the frame and every reader parses the event in the same way. It adds an unchanged event
// to replays, because a client that resumes its stream may get the event again.
func (a *responder) eventBytes(line []byte, last bool) []byte {
	if e := a.event; e != nil {
		same := bytes.Equal(e.Data, line)
		if same {
			a.replays.addEvent(e)
		}
		if same && e.Plain {
			a.event = nil
			return e.Raw
		}
		if same {
			a.event = nil
			return (&sse.Event{ID: e.ID, HasID: e.HasID, Retry: e.Retry, Data: line, HasData: true}).AppendBlock(nil)
		}
		if e.HasID && last {
			a.event = nil
			return (&sse.Event{ID: e.ID, HasID: true, Retry: -1, Data: line, HasData: true}).AppendBlock(nil)
		}
	}
	return append(sse.AppendData(nil, line), '\n')
}

// writeEvent writes an event without a frame: comments, an id, a retry time. If a reader could find
// a frame in it, the event is encoded again.
func (a *responder) writeEvent(e *sse.Event) error {
	raw := e.Raw
	if !e.Plain {
		raw = (&sse.Event{ID: e.ID, HasID: e.HasID, Retry: e.Retry}).AppendBlock(nil)
	}
	return a.writeBlock(raw)
}

// writeBlock writes a block to the stream. It begins the stream if necessary.
func (a *responder) writeBlock(raw []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.hungUp {
		return errHungUp
	}
	if !a.headerWritten {
		a.beginStream()
	}
	return a.writeBytes(raw)
}

// relayEvent runs the function relay, which passes the frame of the event to the gate. final means
// that the event is the last one of the server's stream. The client gets the event's id and retry
// time in any case.
func (a *responder) relayEvent(e *sse.Event, final bool, relay func()) {
	a.mu.Lock()
	a.event, a.final = e, final
	a.mu.Unlock()
	relay()
	a.mu.Lock()
	unused := a.event == e
	a.event = nil
	a.mu.Unlock()
	if unused {
		_ = a.writeEventID(e)
	}
}

// writeReplay writes an event that was already forwarded before.
func (a *responder) writeReplay(e *sse.Event) error {
	return a.writeBlock((&sse.Event{ID: e.ID, HasID: true, Retry: e.Retry, Data: e.Data, HasData: true}).AppendBlock(nil))
}

// writeEventID writes an event's id and retry time, without its data and name.
func (a *responder) writeEventID(e *sse.Event) error {
	if !e.HasID && e.Retry < 0 {
		return nil
	}
	return a.writeEvent(&sse.Event{ID: e.ID, HasID: e.HasID, Retry: e.Retry})
}

// setHeader sets the status and adds headers of the server's answer. It has no effect after the
// first write.
func (a *responder) setHeader(from http.Header, status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.headerWritten || a.hungUp {
		return
	}
	a.status = status
	maps.Copy(a.w.Header(), from)
}

// writeEmpty answers with a status and without a body.
func (a *responder) writeEmpty(status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.headerWritten && !a.hungUp {
		a.status = status
		a.writeHeader()
	}
	a.signalEnd()
}

// expectEvents makes the response an event stream even if its first frame is the answer. The reason
// is that the client can resume a stream, but not JSON.
func (a *responder) expectEvents() {
	a.mu.Lock()
	a.events = true
	a.mu.Unlock()
}

// openStream begins the stream even though there is no event yet.
func (a *responder) openStream() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.headerWritten && !a.hungUp {
		a.beginStream()
		_ = a.ctl.Flush()
	}
}

// stayAlive writes a comment if the response is an event stream.
func (a *responder) stayAlive() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stream && !a.hungUp {
		_ = a.writeBytes([]byte(":\n\n"))
	}
}

func (a *responder) beginStream() {
	a.w.Header().Set("Content-Type", "text/event-stream")
	a.stream = true
	a.writeHeader()
}

func (a *responder) writeHeader() {
	a.headerWritten = true
	if a.status == 0 || a.stream {
		a.status = http.StatusOK
	}
	a.w.WriteHeader(a.status)
}

func (a *responder) writeBytes(b []byte) error {
	if a.patience > 0 {
		_ = a.ctl.SetWriteDeadline(time.Now().Add(a.patience))
	}
	if _, err := a.w.Write(b); err != nil {
		a.hungUp = true
		a.signalEnd()
		return errHungUp
	}
	return a.ctl.Flush()
}

// finishResponse ends the response. It writes the status if no header was written yet.
func (a *responder) finishResponse(status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.headerWritten && !a.hungUp {
		a.status = status
		a.writeHeader()
	}
	a.hungUp = true
	a.signalEnd()
}

// answerLast ends the response with this line, unless the answer was already written. It uses
// status only if no header was written yet.
func (a *responder) answerLast(status int, line []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.hungUp || a.told {
		return
	}
	if a.stream {
		line = append(sse.AppendData(nil, line), '\n')
	} else if !a.headerWritten {
		a.w.Header().Set("Content-Type", "application/json")
		a.status = status
		a.writeHeader()
	}
	a.told = a.writeBytes(line) == nil
	a.hungUp = true
	a.signalEnd()
}

// hangUp stops all use of the http.ResponseWriter, which must not be used after the handler has
// returned.
func (a *responder) hangUp() {
	a.mu.Lock()
	a.hungUp = true
	a.signalEnd()
	a.mu.Unlock()
}

// abortCall aborts the request to the server, because the client has hung up.
func (a *responder) abortCall() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.abort != nil {
		a.abort()
	}
}

// hasAnswered reports whether the answer was written.
func (a *responder) hasAnswered() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.told
}

func (a *responder) signalEnd() {
	select {
	case <-a.ended:
	default:
		close(a.ended)
	}
}

// beginRelay notes that the message goes to the server.
func (a *responder) beginRelay(relayed chan struct{}, abort func()) {
	a.mu.Lock()
	a.relayed, a.abort = relayed, abort
	a.mu.Unlock()
}

// relayDone returns a channel that is closed when the server's answer has been passed on. If the
// server was not asked, the channel is closed already.
func (a *responder) relayDone() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.relayed == nil {
		a.relayed = make(chan struct{})
		close(a.relayed)
	}
	return a.relayed
}
