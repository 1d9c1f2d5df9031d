package reverse

import "sync"

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
