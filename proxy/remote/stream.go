package remote

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/clawai/clawai/proxy/remote/sse"
)

// place is how far a stream has been read, for taking it up again.
type place struct {
	event string        // the id of the last event
	known bool          // there was one
	wait  time.Duration // before the next attempt
	tries int           // without an event since

	session string // that the place is in
}

// follow reads the stream that answers x, and takes it up again when it is cut
// before the answer: a broken connection is not a cancellation (MCP 2025-11-25
// basic/transports). A modern stream cannot be resumed.
func (u *Upstream) follow(x *exchange, resp *http.Response) {
	p := place{wait: u.o.Patience}
	err := u.events(x, resp, &p)
	for !u.over(x) {
		if x.era.modern || !p.known || p.tries >= maxResumes {
			u.fail(x, "the stream ended before the answer"+because(err))
			return
		}
		if !u.pause(x.ctx, &p) {
			return
		}
		err = u.resume(x, &p)
	}
}

// over reports a request that needs no more answer.
func (u *Upstream) over(x *exchange) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return x.told.yet() || x.cancelled || x.ctx.Err() != nil
}

// resume takes the stream up again where it was cut.
func (u *Upstream) resume(x *exchange, p *place) error {
	resp, err := u.get(x.ctx, p)
	if err != nil {
		return err
	}
	defer finish(resp.Body)
	if !okay(resp) {
		p.tries = maxResumes
		return errors.New(Status(resp))
	}
	return u.events(x, resp, p)
}

// events hands on what a stream carries until it ends. x is nil for the stream
// that belongs to no request.
func (u *Upstream) events(x *exchange, resp *http.Response, p *place) error {
	began := time.Now()
	defer func() {
		if time.Since(began) >= steady {
			p.tries = 0 // a gateway that cuts what is quiet is no server that is gone
		}
	}()
	last, resumed := p.event, p.known
	var after *time.Timer
	for in := sse.NewReader(resp.Body, u.maxEvent()); ; {
		e, err := in.Next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if e.HasID {
			p.event, p.known = e.ID, resumes(e.ID)
		}
		if e.Retry >= 0 {
			p.wait = u.wait(e.Retry)
		}
		again := resumed && e.HasID && e.ID == last // a server that begins with the event it was to begin behind
		if resumed = resumed && !e.HasData; again {
			continue
		}
		if e.HasData && (e.Name == "" || e.Name == "message") {
			p.tries = 0
			u.arrived(x, resp.Header, e.Data)
		}
		if x != nil && after == nil && x.told.yet() { // the server should end it now (MCP 2025-11-25 basic/transports)
			after = time.AfterFunc(10*u.o.Patience, x.cancel)
			defer after.Stop()
		}
	}
}

// resumes reports an event id that a header can carry back.
func resumes(id string) bool {
	return id != "" && len(id) <= maxEventID &&
		!strings.ContainsFunc(id, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// get opens the server's own stream, or takes up one that was cut.
func (u *Upstream) get(ctx context.Context, p *place) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.o.URL.String(), nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "text/event-stream")
	if err := u.dress(r, era{}); err != nil {
		return nil, err
	}
	if id := r.Header.Get(headerSession); id != p.session {
		p.session, p.known = id, p.known && p.session == ""
	}
	if p.known {
		r.Header.Set(headerEvent, p.event)
	}
	resp, err := Do(u.http, r)
	if err != nil {
		return nil, err
	}
	if okay(resp) {
		if what, err := contentType(resp.Header); err != nil || what != "text/event-stream" {
			finish(resp.Body)
			p.tries = maxResumes // it will not become one
			return nil, errors.Join(errors.New("the server's stream is no event stream"), err)
		}
	}
	return resp, nil
}

// wait is how long the server wants us to wait, within bounds: a server that cuts
// its streams at once must not keep us busy.
func (u *Upstream) wait(ms int) time.Duration {
	if ms >= int(maxWait/time.Millisecond) {
		return maxWait
	}
	return max(time.Duration(ms)*time.Millisecond, u.o.Patience/10)
}

// pause waits before the next attempt; false when there will be none.
func (u *Upstream) pause(ctx context.Context, p *place) bool {
	t := time.NewTimer(p.wait << min(p.tries, 4))
	defer t.Stop()
	p.tries++
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// listen keeps the server's own stream open: what it says outside of answers
// comes there. A server without one answers 405.
func (u *Upstream) listen(first done) {
	p := place{wait: u.o.Patience}
	for opened := false; ; {
		ctx, cancel := context.WithCancel(u.ctx)
		u.mu.Lock()
		u.session.rehear = cancel
		u.mu.Unlock()
		resp, err := u.get(ctx, &p)
		first.now()
		if err == nil && okay(resp) {
			opened = true
			err = u.events(nil, resp, &p)
		} else if err == nil {
			err = errors.New(Status(resp))
			if resp.StatusCode < 500 {
				p.tries = maxResumes
			}
		}
		if resp != nil {
			finish(resp.Body)
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
			p = place{wait: u.o.Patience}
			continue
		case p.tries >= maxResumes:
			if opened {
				u.lost("stream_lost", "the server's own stream cannot be opened again"+because(err))
			}
			return
		}
		if !u.pause(u.ctx, &p) {
			return
		}
	}
}

func because(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}
