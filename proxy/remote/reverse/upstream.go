package reverse

import (
	"context"
	"sync"
)

// upstreamCall is the request to the server for the reader of a responder.
type upstreamCall struct {
	mu      sync.Mutex
	relayed chan struct{} // closed when the answer has been passed on; nil before the server is asked
	cancel  context.CancelFunc
}

// beginRelay notes that the server is asked.
func (u *upstreamCall) beginRelay(relayed chan struct{}, cancel context.CancelFunc) {
	u.mu.Lock()
	u.relayed, u.cancel = relayed, cancel
	u.mu.Unlock()
}

// relayDone returns a channel that is closed when no answer is being passed on.
func (u *upstreamCall) relayDone() <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.relayed != nil {
		return u.relayed
	}
	none := make(chan struct{})
	close(none)
	return none
}

// abortCall aborts the request to the server, because the client has hung up.
func (u *upstreamCall) abortCall() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.cancel != nil {
		u.cancel()
	}
}

// inlineTask lets the goroutine of the client's request relay the answer, if the call went on at
// once; otherwise it would only wait. A new goroutine would cost a switch and a growing stack for
// every call.
type inlineTask struct {
	mu   sync.Mutex
	open bool // it can still take a task
	task func()
}

// offerTask leaves a task of this lifetime to the goroutine. It returns false if the goroutine
// cannot take it.
func (t *inlineTask) offerTask(s *Server, in *lifetime, task func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.open || !s.beginTask(in) {
		return false
	}
	t.open, t.task = false, func() { defer in.tasks.Done(); task() }
	return true
}

// takeTask returns the task that was left, or nil. Later tasks are not accepted.
func (t *inlineTask) takeTask() (task func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = false
	return t.task
}
