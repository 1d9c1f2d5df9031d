package reverse

import (
	"context"
	"sync"
)

// errand is what the server is asked on behalf of whoever reads a responder.
type errand struct {
	mu      sync.Mutex
	relayed chan struct{} // closed when the answer has been carried back; nil before the server is asked
	cancel  context.CancelFunc
}

// begin notes that the server is being asked.
func (e *errand) begin(relayed chan struct{}, cancel context.CancelFunc) {
	e.mu.Lock()
	e.relayed, e.cancel = relayed, cancel
	e.mu.Unlock()
}

// over is closed when nothing is being carried back.
func (e *errand) over() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.relayed != nil {
		return e.relayed
	}
	none := make(chan struct{})
	close(none)
	return none
}

// turn is the goroutine of a client's request, which would only wait for the
// answer: it carries the answer itself when the call went on at once. A new one
// costs a switch, and a stack that grows again for every call.
type turn struct {
	mu   sync.Mutex
	here bool // it can still take a task
	task func()
}

// offer leaves task, of s, to the goroutine; false when it cannot have it.
func (t *turn) offer(s *Server, task func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.here || !s.hold() {
		return false
	}
	t.here, t.task = false, func() { defer s.tasks.Done(); task() }
	return true
}

// take is the task that was left, nil without one. What comes later is too late.
func (t *turn) take() (task func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.here = false
	return t.task
}

// hangUp lets the server see that the client has hung up.
func (e *errand) hangUp() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.cancel != nil {
		e.cancel()
	}
}
