package model

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clawai/clawai/internal/wire/modelapi"
)

// passage is what becomes of a request that goes on before it was looked at.
type passage struct {
	gone  chan func() []byte // gets what returns the request when it has gone, nil if it has not gone whole
	asked chan struct{}      // closed when somebody waits for ended
	ask   sync.Once
	whole atomic.Bool   // nothing of the request is left to read
	ended chan struct{} // closed when err is known
	err   error
	doubt sync.Once // guards lost
	lost  error     // why a call must not pass after a request that has not gone whole
}

// lookLater is how long a request waits to be looked at when it has gone and nobody waits for that. The
// first words of a reply that comes at once need the processor, too.
const lookLater = time.Millisecond

// errPartial means that not all of a request has gone to the service.
var errPartial = errors.New("the service has answered before it had the whole request")

// lookMeanwhile looks at the request while it goes on.
func (t *turn) lookMeanwhile() *passage {
	p := &passage{gone: make(chan func() []byte, 1), asked: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		whole := <-p.gone
		if whole == nil {
			p.err = errPartial
			return
		}
		later := time.NewTimer(lookLater)
		select {
		case <-later.C:
		case <-p.asked:
			later.Stop()
		}
		_, p.err = t.readConversation(whole())
	}()
	return p
}

// awaitLook waits until the request was looked at, so that every label is there before what the reply
// asks for.
func (t *turn) awaitLook() error {
	if t.passing == nil {
		return nil
	}
	t.passing.ask.Do(func() { close(t.passing.asked) })
	<-t.passing.ended
	return t.passing.err
}

// awaitWhole is awaitLook for a reply that the client may use.
func (t *turn) awaitWhole() error {
	err := t.awaitLook()
	if errors.Is(err, errPartial) {
		p := t.passing
		p.doubt.Do(func() { p.lost = t.distrustRequest("a request that the service did not take whole", nil) })
		return p.lost
	}
	return err
}

// passingBody is the body of a request that goes on as it comes.
type passingBody struct {
	io.ReadCloser
	passing *passage
	leave   func()      // ends the turn
	late    *time.Timer // calls readAhead
	once    sync.Once
	ended   atomic.Bool // nobody may read the client's body any more

	mu    sync.Mutex // guards what follows
	parts [][]byte   // what was read, for who looks at it
	left  int64      // how many bytes were not read
	ahead []byte     // what was read and has not gone
}

// passBody returns the body of a request of n bytes that goes on as it comes. After a KeepAlive the rest is
// read even if the service does not take it: else a service that answers before would hold its client for
// ever, and nobody would see that a client has left.
func (t *turn) passBody(from io.ReadCloser, n int64, leave func()) *passingBody {
	b := &passingBody{ReadCloser: from, passing: t.passing, leave: leave, left: n}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.late = time.AfterFunc(t.o.KeepAlive, b.readAhead)
	return b
}

// Read passes a part on. It gives the end with the last part: the server closes the request's body when the
// reply begins, and who would read the end then, as the library does, fails.
func (b *passingBody) Read(p []byte) (n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.ahead) == 0 {
		return b.readPart(p)
	}
	n = copy(p, b.ahead)
	if b.ahead = b.ahead[n:]; len(b.ahead) == 0 && b.left == 0 {
		err = io.EOF
	}
	return n, err
}

// readAhead reads what the service has not taken.
func (b *passingBody) readAhead() {
	some := room.Get()
	defer room.Put(some)
	for {
		b.mu.Lock()
		n, err := b.readPart(some)
		b.ahead = append(b.ahead, some[:n]...)
		b.mu.Unlock()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			b.leave()
			return
		}
	}
}

// readPart reads what the client has sent, and keeps it.
func (b *passingBody) readPart(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	if b.ended.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.keepPart(p[:n])
	if b.left -= int64(n); b.left == 0 {
		b.late.Stop()
		b.passing.whole.Store(true)
		b.once.Do(func() { b.passing.gone <- b.joinParts })
		err = io.EOF
	}
	return n, err
}

// keepPart keeps what goes. It fills each buffer, because a client may send a few bytes at a time.
func (b *passingBody) keepPart(text []byte) {
	for len(text) > 0 {
		last := len(b.parts) - 1
		if last < 0 || len(b.parts[last]) == cap(b.parts[last]) {
			b.parts = append(b.parts, room.Get()[:0])
			last++
		}
		part := b.parts[last]
		n := copy(part[len(part):cap(part)], text)
		b.parts[last], text = part[:len(part)+n], text[n:]
	}
}

// joinParts returns what has gone.
func (b *passingBody) joinParts() []byte {
	body := bytes.Join(b.parts, nil)
	for _, part := range b.parts {
		room.Put(part[:cap(part)])
	}
	return body
}

// endBody ends a body that has not gone whole, too. The library closes no body of a request that it relays.
func (b *passingBody) endBody() {
	b.late.Stop()
	b.ended.Store(true)
	b.once.Do(func() { b.passing.gone <- nil })
}

// changesAny reports whether clawai may write other bytes into any request than the client did, or refuse it.
// Such a request waits until it was looked at.
func (t *turn) changesAny() bool {
	return t.o.Judge && (t.o.Gate.Screens() || t.screensUploads())
}

// wordsToChange returns the words of which a request holds one if clawai must change it or refuse it, and
// changesAny does not hold: names of refused calls, and tools of the service that a rule denies.
func (t *turn) wordsToChange() (words []string) {
	if !t.o.Judge {
		return nil
	}
	if t.hasDenials() {
		words = append(words, deniedPrefix)
	}
	for _, kind := range t.deniedOffers() {
		words = append(words, modelapi.OfferWords(t.api, kind)...)
	}
	return words
}

// mayHold reports whether a request holds one of some words. Words with an underscore, which is rare, are
// looked for in one pass. A letter that is written as an escape may be of any word.
func mayHold(text []byte, words []string) bool {
	if len(words) > 0 && bytes.Contains(text, []byte(`\u00`)) {
		return true
	}
	for _, word := range words {
		if !strings.Contains(word, "_") && bytes.Contains(text, []byte(word)) {
			return true
		}
	}
	for at := 0; len(words) > 0; at++ {
		next := bytes.IndexByte(text[at:], '_')
		if next < 0 {
			return false
		}
		at += next
		for _, word := range words {
			if from := at - strings.IndexByte(word, '_'); from >= 0 && from < at && bytes.HasPrefix(text[from:], []byte(word)) {
				return true
			}
		}
	}
	return false
}

// mayAsk reports whether a part of a stream may hold the beginning of a call. Every API writes it with one of
// these words, if not with escapes.
func mayAsk(part []byte) bool {
	part = bytes.ToLower(part)
	return bytes.Contains(part, []byte("tool")) || bytes.Contains(part, []byte("call")) || bytes.Contains(part, []byte(`\u`))
}

// buffers are buffers that are used again.
type buffers struct{ sync.Pool }

// room is for what passes.
var room buffers

// Get returns a buffer.
func (b *buffers) Get() []byte {
	if room, ok := b.Pool.Get().(*[]byte); ok {
		return *room
	}
	return make([]byte, 32<<10)
}

// Put takes a buffer back.
func (b *buffers) Put(room []byte) { b.Pool.Put(&room) }
