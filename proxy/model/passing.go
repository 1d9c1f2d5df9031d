package model

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clawai/clawai/internal/wire/modelapi"
)

// passage is the state of a request that is forwarded before it is read and judged.
type passage struct {
	gone  chan func() []byte // gets a function that returns the forwarded request, or nil if the request was not forwarded completely
	asked chan struct{}      // closed when a goroutine waits for the judgement
	ask   sync.Once
	begun atomic.Bool   // a byte of the request was read, which the service may have
	whole atomic.Bool   // the request was read to its end
	ended chan struct{} // closed when the judgement is over and err is set
	err   error
	doubt sync.Once // makes sure that lost is set only once
	lost  error     // why no call may pass after an incomplete request; nil if calls may pass
}

// lookLater is how long the judgement of a forwarded request is delayed if no goroutine waits for
// it. In this time the processor is free for the first bytes of the reply.
const lookLater = time.Millisecond

// errPartial means that the service got only a part of a request.
var errPartial = errors.New("the service has answered before it had the whole request")

// lookMeanwhile starts a goroutine that judges the request after it was forwarded.
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
		_, p.err = t.outliveClient().readConversation(whole()) // the service has the request
	}()
	return p
}

// outliveClient returns a copy of the turn whose context does not end when the client hangs up. It is for
// messages that the service or the client already has: they are recorded and label the session in any case.
func (t *turn) outliveClient() *turn {
	on := *t
	on.ctx = context.WithoutCancel(t.ctx)
	return &on
}

// awaitLook waits until the request is judged. After that all its labels are set, so that a call in
// the reply can be judged.
func (t *turn) awaitLook() error {
	if t.passing == nil {
		return nil
	}
	t.passing.ask.Do(func() { close(t.passing.asked) })
	<-t.passing.ended
	return t.passing.err
}

// awaitWhole is awaitLook for a reply that may hold calls. If the service got only a part of the
// request, awaitWhole handles the request as one that could not be read.
func (t *turn) awaitWhole() error {
	err := t.awaitLook()
	if errors.Is(err, errPartial) {
		p := t.passing
		p.doubt.Do(func() { p.lost = t.distrustRequest(partialWords, nil) })
		return p.lost
	}
	return err
}

const partialWords = "a request that the service did not take whole"

// endLook waits until the request is judged and recorded. A part of a request that the service may have got is
// recorded too. It gives no labels: a reply in which it could count has passed awaitWhole.
func (t *turn) endLook() {
	if err := t.awaitLook(); errors.Is(err, errPartial) && t.passing.begun.Load() {
		t.passing.doubt.Do(func() { t.noteUnread("client", partialWords, 0) })
	}
}

// passingBody is the body of a request that is forwarded while it is still coming from the client.
type passingBody struct {
	io.ReadCloser
	passing *passage
	leave   func()      // cancels the request and the reply
	late    *time.Timer // timer that calls readAhead
	once    sync.Once
	ended   atomic.Bool // the client's body must not be read any more

	mu    sync.Mutex // guards the fields below
	parts [][]byte   // all bytes that were read so far, for the judgement
	left  int64      // number of bytes that were not read yet
	ahead []byte     // bytes that were read but not yet forwarded
}

// passBody returns the body of a request of n bytes that is forwarded while it is still coming.
// After KeepAlive it reads the rest even if the service does not take it. This is needed in two
// cases. A service may answer before it has the whole request, while the client still sends. And a
// client may hang up, which only a read shows.
func (t *turn) passBody(from io.ReadCloser, n int64, leave func()) *passingBody {
	b := &passingBody{ReadCloser: from, passing: t.passing, leave: leave, left: n}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.late = time.AfterFunc(t.o.KeepAlive, b.readAhead)
	return b
}

// Read returns the next bytes. It returns io.EOF together with the last bytes. A later Read would
// fail, because the HTTP server closes the request's body when the reply begins.
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

// readAhead reads the rest of the body, which the service has not taken yet.
func (b *passingBody) readAhead() {
	some := bodyBuffers.Get()
	defer bodyBuffers.Put(some)
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

// readPart reads bytes from the client and keeps a copy of them.
func (b *passingBody) readPart(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	if b.ended.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.keepPart(p[:n])
	if n > 0 {
		b.passing.begun.Store(true)
	}
	if b.left -= int64(n); b.left == 0 {
		b.late.Stop()
		b.passing.whole.Store(true)
		b.once.Do(func() { b.passing.gone <- b.joinParts })
		err = io.EOF
	}
	return n, err
}

// keepPart keeps a copy of forwarded bytes. It fills each buffer completely, because a client may
// send only a few bytes at a time.
func (b *passingBody) keepPart(text []byte) {
	for len(text) > 0 {
		last := len(b.parts) - 1
		if last < 0 || len(b.parts[last]) == cap(b.parts[last]) {
			b.parts = append(b.parts, bodyBuffers.Get()[:0])
			last++
		}
		part := b.parts[last]
		n := copy(part[len(part):cap(part)], text)
		b.parts[last], text = part[:len(part)+n], text[n:]
	}
}

// joinParts returns the whole body and puts the buffers back.
func (b *passingBody) joinParts() []byte {
	body := bytes.Join(b.parts, nil)
	for _, part := range b.parts {
		bodyBuffers.Put(part[:cap(part)])
	}
	return body
}

// endBody ends all use of the client's body, even if only a part was forwarded. It is needed
// because net/http/httputil does not close the body of a request that it forwards.
func (b *passingBody) endBody() {
	b.late.Stop()
	b.ended.Store(true)
	b.once.Do(func() { b.passing.gone <- nil })
}

// changesAny reports whether the rules may change or refuse any request. If so, each request is
// judged before it is forwarded.
func (t *turn) changesAny() bool {
	return t.o.Judge && (t.o.Gate.Screens() || t.screensUploads())
}

// wordsToChange returns words for a quick search if changesAny is false. A request that clawai must
// change or refuse holds at least one of them. They are names for refused calls and names of denied
// tools of the service.
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

// mayHold reports whether a request may hold one of the words. All words with an underscore are
// searched in one pass over the underscores, which are rare. A request with an escaped character
// (\u00..) may hold any word.
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

// mayAsk reports whether a part of a stream may hold the beginning of a call. In every API a call
// contains "tool" or "call", or an escape.
func mayAsk(part []byte) bool {
	part = bytes.ToLower(part)
	return bytes.Contains(part, []byte("tool")) || bytes.Contains(part, []byte("call")) || bytes.Contains(part, []byte(`\u`))
}

// buffers is a pool of reusable buffers.
type buffers struct{ sync.Pool }

// bodyBuffers is the pool for the bodies that are forwarded.
var bodyBuffers buffers

// Get returns a buffer.
func (b *buffers) Get() []byte {
	if room, ok := b.Pool.Get().(*[]byte); ok {
		return *room
	}
	return make([]byte, 32<<10)
}

// Put returns a buffer to the pool.
func (b *buffers) Put(room []byte) { b.Pool.Put(&room) }
