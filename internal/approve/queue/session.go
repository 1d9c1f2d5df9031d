package queue

import (
	"fmt"
	"strings"
)

// Session says who asks.
type Session struct {
	ID      string // 1 to 64 letters, digits, - and _; unlike every other session's
	Server  string // what a request says that names none
	Client  string // the same
	Project string // the same
	PID     int    // 0 means this process
}

// isSession keeps to what can be a file's name everywhere.
func isSession(id string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return id != "" && len(id) <= 64 && strings.Trim(id, letters+"0123456789-_") == ""
}

// hold takes the session's file, anew when somebody removed it. The caller has
// p.mu, or p alone.
func (p *Proxy) hold() error {
	if p.here != nil {
		if p.here.holds() {
			return nil
		}
		_ = p.here.leave()
		p.here = nil
	}
	if err := p.q.folders(); err != nil {
		return fmt.Errorf("the queue in %q cannot be used: %w", p.q.dir, err)
	}
	here, err := appear(p.q.path(proxies, p.s.ID))
	if err != nil {
		return fmt.Errorf("the queue in %q: session %s: %w", p.q.dir, p.s.ID, err)
	}
	p.here = here
	p.q.ears.again()
	return nil
}

// alive says whether a session's proxy is. Where that cannot be told it is.
func (q *Queue) alive(session string) bool {
	if !isSession(session) {
		return false
	}
	there, err := present(q.path(proxies, session))
	return there || err != nil
}

// call wakes a session's proxy.
func (q *Queue) call(session string) {
	if isSession(session) {
		_ = ring(q.path(proxies, session))
	}
}
