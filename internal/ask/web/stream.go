package web

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/text/term"
)

// presence tells the queue that a person watches, while at least one page is connected.
type presence struct {
	addAnswerer func() (io.Closer, error)
	mu          sync.Mutex
	pages       int
	answerer    io.Closer
}

// enterPage adds one to the number of connected pages. If it returns tooMany, it has not added
// the page. If it returns another error, it has added the page, but the queue does not know that
// a person watches.
func (p *presence) enterPage() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pages == maxPages {
		return tooMany
	}
	p.pages++
	if p.answerer != nil {
		return nil
	}
	answerer, err := p.addAnswerer()
	if err == nil {
		p.answerer = answerer
	}
	return err
}

func (p *presence) leavePage() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pages--; p.pages == 0 && p.answerer != nil {
		_ = p.answerer.Close() // the error is ignored, because the mark disappears when the process ends
		p.answerer = nil
	}
}

// events is a stream of server-sent events to one page.
type events struct {
	w  http.ResponseWriter
	rc *http.ResponseController
}

// sendTime is the time limit for sending one event.
const sendTime = 10 * time.Second

// sendEvent sends one event. Its data is JSON on one line.
func (e *events) sendEvent(name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return e.writeText("event: " + name + "\ndata: " + string(data) + "\n\n")
}

func (e *events) writeText(s string) error {
	if err := e.rc.SetWriteDeadline(time.Now().Add(sendTime)); err != nil {
		return err
	}
	if _, err := io.WriteString(e.w, s); err != nil {
		return err
	}
	return e.rc.Flush()
}

// gap is the shortest time between two reads of the queue.
const gap = 100 * time.Millisecond

// serveEvents sends one page all changes until the page disconnects: pending requests, the history,
// session answers, and notices that a view has changed.
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request, in *session) error {
	err := s.presence.enterPage()
	if errors.Is(err, tooMany) {
		return err
	}
	defer s.presence.leavePage()
	w.Header().Set("Content-Type", "text/event-stream")
	e := &events{w, http.NewResponseController(w)}
	// Remove the read deadline of the request, because it would also end the stream.
	if err := e.rc.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	b := newPageState(s, in, e)
	if err != nil {
		b.alone = "Questions are shown here, but the proxies cannot see that this page is open: " + term.VisibleText(err.Error())
	}
	s.streamEvents(r.Context(), b)
	return nil
}

func (s *Server) streamEvents(ctx context.Context, b *pageState) {
	beat := time.NewTicker(s.heartbeat)
	defer beat.Stop()
	look := time.NewTicker(s.look)
	defer look.Stop()
	seen := s.version()
	ticks := s.o.Queue.Watch(ctx)
	due, rest := ticks, (<-chan time.Time)(nil)
	var err error
	for err == nil {
		select {
		case <-ctx.Done():
			return
		case <-b.in.ended:
			_ = b.out.sendEvent("ended", map[string]string{"text": stranger.Text})
			return
		case _, ok := <-due:
			if !ok {
				return
			}
			err = b.updatePage(ctx)
			due, rest = nil, time.After(gap)
		case <-rest:
			due, rest = ticks, nil
		case <-look.C:
			if now := s.version(); now != seen {
				seen = now
				err = b.out.sendEvent("changed", struct{}{})
			}
		case <-beat.C:
			err = b.out.writeText(":\n\n")
		}
	}
}

// version returns the version of the views, or 0 without views.
func (s *Server) version() uint64 {
	if s.o.Views == nil {
		return 0
	}
	return s.o.Views.Version()
}
