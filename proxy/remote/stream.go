package remote

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/wire/sse"
)

// position is the point in a stream from which it can be resumed.
type position struct {
	lastEventID string        // id of the last event
	resumable   bool          // the server may be able to resume after lastEventID
	wait        time.Duration // pause before the next attempt to resume
	tries       int           // attempts to resume since the last event

	session string // id of the session in which the stream was read
}

// readStream reads the stream with the answer to rt. If the stream is cut before the answer, it
// resumes the stream, because a broken connection is not a cancellation (MCP 2025-11-25
// basic/transports). A stream of 2026-07-28 cannot be resumed.
func (u *Upstream) readStream(rt *roundTrip, resp *http.Response) {
	p := position{wait: u.o.Patience}
	err := u.readEvents(rt, resp, &p)
	for !u.isDone(rt) {
		if rt.era.modern || !p.resumable || p.tries >= maxResumes {
			u.failRequests(rt, "the stream ended before the answer"+causeSuffix(err))
			return
		}
		if !u.backOff(rt.ctx, &p) {
			return
		}
		err = u.resumeStream(rt, &p)
	}
}

// isDone reports whether the request needs no more answer.
func (u *Upstream) isDone(rt *roundTrip) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return rt.answered.hasFired() || rt.cancelled || rt.ctx.Err() != nil
}

// resumeStream resumes a cut stream.
func (u *Upstream) resumeStream(rt *roundTrip, p *position) error {
	resp, err := u.openStream(rt.ctx, p)
	if err != nil {
		return err
	}
	defer drainBody(resp.Body)
	if !isOK(resp) {
		p.tries = maxResumes
		return errors.New(StatusText(resp))
	}
	return u.readEvents(rt, resp, p)
}

// readEvents passes on the messages in a stream until the stream ends. rt is nil for the server's
// own stream.
func (u *Upstream) readEvents(rt *roundTrip, resp *http.Response, p *position) error {
	began := time.Now()
	defer func() {
		if time.Since(began) >= steadyAfter {
			p.tries = 0 // this does not count as a failed attempt: a gateway may cut silent streams although the server still runs
		}
	}()
	last, resumed := p.lastEventID, p.resumable
	var after *time.Timer
	for in := sse.NewReader(resp.Body, u.maxEvent()); ; {
		e, err := in.ReadEvent()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if e.HasID {
			p.lastEventID, p.resumable = e.ID, canResume(e.ID)
		}
		if e.Retry >= 0 {
			floor := u.o.Patience // the pause may be as long as Patience here, because no request waits for this stream
			if rt != nil {
				floor /= 4
			}
			p.wait = u.retryDelay(e.Retry, floor)
		}
		again := resumed && e.HasID && e.ID == last // some servers repeat the event after which the stream was to be resumed
		if resumed = resumed && !e.HasData; again {
			continue
		}
		if e.HasData && (e.Name == "" || e.Name == "message") {
			p.tries = 0
			u.receiveFrame(rt, resp.Header, e.Data)
		}
		if rt != nil && after == nil && rt.answered.hasFired() { // after the answer the server should end the stream (MCP 2025-11-25 basic/transports)
			after = time.AfterFunc(10*u.o.Patience, rt.cancel)
			defer after.Stop()
		}
	}
}

// canResume reports whether an event id can be sent in a header.
func canResume(id string) bool {
	return id != "" && len(id) <= maxEventID &&
		!strings.ContainsFunc(id, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// openStream opens the server's own stream, or resumes a cut stream.
func (u *Upstream) openStream(ctx context.Context, p *position) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.o.URL.String(), nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "text/event-stream")
	UseOnce(r)
	if err := u.setHeaders(r, era{}); err != nil {
		return nil, err
	}
	if id := r.Header.Get(headerSession); id != p.session {
		p.session, p.resumable = id, p.resumable && p.session == ""
	}
	if p.resumable {
		r.Header.Set(headerEvent, p.lastEventID)
	}
	resp, err := DoRequest(u.http, r)
	if err != nil {
		return nil, err
	}
	if isOK(resp) {
		if what, err := AnswerType(resp); err != nil || what != "text/event-stream" {
			drainBody(resp.Body)
			p.tries = maxResumes // ends further attempts, because the server has no event stream
			return nil, errors.Join(errors.New("the server's stream is not an event stream"), err)
		}
	}
	return resp, nil
}

// retryDelay returns the server's retry time within limits. Otherwise a server that sends 0 and
// cuts its streams at once would keep the proxy busy.
func (u *Upstream) retryDelay(ms int, floor time.Duration) time.Duration {
	if ms >= int(maxRetryDelay/time.Millisecond) {
		return maxRetryDelay
	}
	return max(time.Duration(ms)*time.Millisecond, floor)
}

// backOff waits before the next attempt to resume. It returns false when ctx ends.
func (u *Upstream) backOff(ctx context.Context, p *position) bool {
	over := time.After(p.wait << min(p.tries, 4))
	p.tries++
	select {
	case <-over:
		return true
	case <-ctx.Done():
		return false
	}
}

// keepStreamOpen keeps the server's own stream open. On this stream the server sends messages that
// are not answers. A server without such a stream answers 405.
func (u *Upstream) keepStreamOpen(first signal) {
	p := position{wait: u.o.Patience}
	for opened := false; ; {
		ctx, cancel := context.WithCancel(u.ctx)
		u.mu.Lock()
		u.session.stopListening = cancel
		u.mu.Unlock()
		resp, err := u.openStream(ctx, &p)
		first.fireOnce()
		if err == nil && isOK(resp) {
			opened = true
			err = u.readEvents(nil, resp, &p)
		} else if err == nil {
			err = errors.New(StatusText(resp))
			if resp.StatusCode < 500 {
				p.tries = maxResumes
			}
		}
		if resp != nil {
			drainBody(resp.Body)
		}
		u.mu.Lock()
		again := ctx.Err() != nil
		u.session.listening = again || p.tries < maxResumes
		u.mu.Unlock()
		cancel()
		switch {
		case u.ctx.Err() != nil:
			return
		case again:
			p = position{wait: u.o.Patience}
			continue
		case p.tries >= maxResumes:
			if opened {
				u.reportFailure("stream_lost", "the server's own stream cannot be opened again"+causeSuffix(err))
			}
			return
		}
		if !u.backOff(u.ctx, &p) {
			return
		}
	}
}

func causeSuffix(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}
