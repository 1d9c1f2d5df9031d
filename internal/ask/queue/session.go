package queue

import (
	"fmt"
	"strings"

	"github.com/clawai/clawai/internal/text/redact"
)

// Session describes the session that asks.
type Session struct {
	ID      string // 1 to 64 letters, digits, - and _; unique
	Server  string // default for requests without one
	Client  string // as for Server
	Project string // as for Server
	PID     int    // 0 means this process

	// Known returns the values that must not be kept once a request is resolved; nil for none.
	Known func() *redact.Known
}

// isSession reports whether an id is a valid file name on every system.
func isSession(id string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return id != "" && len(id) <= 64 && strings.Trim(id, letters+"0123456789-_") == ""
}

// knownValues returns the values that must not be kept.
func (s *Session) knownValues() *redact.Known {
	if s.Known == nil {
		return nil
	}
	return s.Known()
}

// claimSession claims the session's file, again if somebody removed it. The caller holds p.mu, or
// is the only user of p.
func (p *Proxy) claimSession() error {
	if p.presence != nil {
		if p.presence.isHeld() {
			return nil
		}
		_ = p.presence.releaseFile()
		p.presence = nil
	}
	if err := p.q.makeFolders(); err != nil {
		return fmt.Errorf("the queue in %q cannot be used: %w", p.q.dir, err)
	}
	own, err := claimFile(p.q.filePath(proxies, p.s.ID))
	if err != nil {
		return fmt.Errorf("the queue in %q: session %s: %w", p.q.dir, p.s.ID, err)
	}
	p.presence = own
	p.q.watcher.rewatch()
	return nil
}

// isAlive reports whether a session's proxy is alive. If that is unknown, it returns true.
func (q *Queue) isAlive(session string) bool {
	if !isSession(session) {
		return false
	}
	claimed, err := isClaimed(q.filePath(proxies, session))
	return claimed || err != nil
}

// notifyProxy wakes a session's proxy.
func (q *Queue) notifyProxy(session string) {
	if isSession(session) {
		_ = touchFile(q.filePath(proxies, session))
	}
}
