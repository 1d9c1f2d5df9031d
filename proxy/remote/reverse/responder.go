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

// responder is the answer to one HTTP request, as the pump sees it: a sink for
// frames. The first frame decides its form: the answer itself is JSON, anything
// else begins an event stream.
type responder struct {
	mu            sync.Mutex
	w             http.ResponseWriter
	ctl           *http.ResponseController
	id            string        // frame.IDKey of the request that is answered; "" for a stream of its own, "[" for a batch
	status        int           // 0 means 200
	headerWritten bool          // the header has been written
	events        bool          // the server answers with an event stream, and so does this side
	stream        bool          // as an event stream
	hungUp        bool          // nobody reads any more
	told          bool          // the answer was written
	event         *sse.Event    // its data is one line
	final         bool          // event is the last that the server's stream can have
	replays       *replays      // of the session; nil without one
	patience      time.Duration // for each write; 0: for ever
	ended         chan struct{} // closed with the answer, or when nobody reads any more

	upstream upstreamCall
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
		block = a.eventBytes(line, last) // also for nobody: the event has crossed
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
		h.Set("Content-Length", strconv.Itoa(len(line))) // whole at once: the outcome is recorded behind it
		a.writeHeader()
		return a.writeBytes(line)
	}
	if !a.headerWritten {
		if last && a.final && a.event == nil { // whole at once, as a server sends what it has the length of
			a.w.Header().Set("Content-Length", strconv.Itoa(len(block)))
		}
		a.beginStream()
	}
	return a.writeBytes(block)
}

// Flush does nothing: a frame is on its way when Add returns.
func (a *responder) Flush() {}

// isFinalAnswer reports the frame that ends the waiting. It has been admitted: each
// member is there once.
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

// eventBytes gives the event for a frame. The server's own bytes are kept when the frame
// is what they hold, to every reader. They may come again to a client that has
// lost its stream.
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

// writeEvent writes what is no frame: comments, ids, times. A block that some reader
// could find a frame in is written anew.
func (a *responder) writeEvent(e *sse.Event) error {
	raw := e.Raw
	if !e.Plain {
		raw = (&sse.Event{ID: e.ID, HasID: e.HasID, Retry: e.Retry}).AppendBlock(nil)
	}
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

// relayEvent takes the frame of an event across; final is the last one of its stream.
// What the event says besides, where the stream can be taken up and when, reaches the
// client in any case.
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

// writeReplay writes an event that has crossed before.
func (a *responder) writeReplay(e *sse.Event) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.hungUp {
		return errHungUp
	}
	if !a.headerWritten {
		a.beginStream()
	}
	return a.writeBytes((&sse.Event{ID: e.ID, HasID: true, Retry: e.Retry, Data: e.Data, HasData: true}).AppendBlock(nil))
}

// writeEventID passes on an event's id and retry, without its data and its name.
func (a *responder) writeEventID(e *sse.Event) error {
	if !e.HasID && e.Retry < 0 {
		return nil
	}
	return a.writeEvent(&sse.Event{ID: e.ID, HasID: e.HasID, Retry: e.Retry})
}

// setHeader adds to ours what of the server's header the client needs. It counts until
// something is written.
func (a *responder) setHeader(from http.Header, status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.headerWritten || a.hungUp {
		return
	}
	a.status = status
	maps.Copy(a.w.Header(), from)
}

// writeEmpty answers without a body.
func (a *responder) writeEmpty(status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.headerWritten && !a.hungUp {
		a.status = status
		a.writeHeader()
	}
	a.signalEnd()
}

// expectEvents notes that what comes is an event stream, also if its first event is the
// answer: the client can take up a stream, and no JSON.
func (a *responder) expectEvents() {
	a.mu.Lock()
	a.events = true
	a.mu.Unlock()
}

// openStream begins the stream before there is anything to say.
func (a *responder) openStream() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.headerWritten && !a.hungUp {
		a.beginStream()
		_ = a.ctl.Flush()
	}
}

// stayAlive writes a comment, where there is a stream to write it on.
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

// finishResponse ends the response: with this status, if nothing was said yet.
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

// hangUp notes that nobody reads any more: the handler is about to return, and
// after that the writer must not be touched.
func (a *responder) hangUp() {
	a.mu.Lock()
	a.hungUp = true
	a.signalEnd()
	a.mu.Unlock()
}

// hasAnswered says that the answer was written.
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
