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

// hangUp lets the server see that the client has hung up.
func (e *errand) hangUp() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.cancel != nil {
		e.cancel()
	}
}
