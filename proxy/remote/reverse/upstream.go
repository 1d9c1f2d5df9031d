package reverse

import (
	"context"
	"sync"
)

// upstreamCall is what the server is asked on behalf of whoever reads a responder.
type upstreamCall struct {
	mu      sync.Mutex
	relayed chan struct{} // closed when the answer has been carried back; nil before the server is asked
	cancel  context.CancelFunc
}

// beginRelay notes that the server is being asked.
func (u *upstreamCall) beginRelay(relayed chan struct{}, cancel context.CancelFunc) {
	u.mu.Lock()
	u.relayed, u.cancel = relayed, cancel
	u.mu.Unlock()
}

// relayDone gives closed when nothing is being carried back.
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

// abortCall lets the server see that the client has hung up.
func (u *upstreamCall) abortCall() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.cancel != nil {
		u.cancel()
	}
}

// inlineTask leaves relaying the answer to the goroutine of the client's request, which
// would only wait for it, when the call went on at once. A new goroutine costs a
// switch, and a stack that grows again for every call.
type inlineTask struct {
	mu   sync.Mutex
	open bool // it can still take a task
	task func()
}

// offerTask leaves task, in that lifetime, to the goroutine; false when it cannot have it.
func (t *inlineTask) offerTask(s *Server, in *lifetime, task func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.open || !s.beginTask(in) {
		return false
	}
	t.open, t.task = false, func() { defer in.tasks.Done(); task() }
	return true
}

// takeTask gives the task that was left, nil without one. What comes later is too late.
func (t *inlineTask) takeTask() (task func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = false
	return t.task
}
