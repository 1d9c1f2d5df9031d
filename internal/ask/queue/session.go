package queue

import (
	"fmt"
	"strings"

	"github.com/clawai/clawai/internal/text/redact"
)

// Session describes a session that adds requests to the queue.
type Session struct {
	ID      string // 1 to 64 letters, digits, - and _; unique
	Server  string // the server of a request that names no server
	Client  string // the client of a request that names no client
	Project string // the project of a request that names no project
	PID     int    // 0 means this process

	// Known returns the secret values that must be removed from a request when it is resolved; nil
	// for none.
	Known func() *redact.Known
}

// isSession reports whether an id can be a file name on every system.
func isSession(id string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return id != "" && len(id) <= 64 && strings.Trim(id, letters+"0123456789-_") == ""
}

// knownValues returns the secret values of the session, or nil.
func (s *Session) knownValues() *redact.Known {
	if s.Known == nil {
		return nil
	}
	return s.Known()
}

// claimSession creates and locks the session's file, also if somebody has removed it. The caller
// holds p.mu, or no other goroutine knows p yet.
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

// isAlive reports whether the proxy of a session runs. If this cannot be determined, it returns
// true.
func (q *Queue) isAlive(session string) bool {
	if !isSession(session) {
		return false
	}
	claimed, err := isClaimed(q.filePath(proxies, session))
	return claimed || err != nil
}

// notifyProxy wakes the proxy of a session.
func (q *Queue) notifyProxy(session string) {
	if isSession(session) {
		_ = touchFile(q.filePath(proxies, session))
	}
}
