package reverse

import "sync"

// inlineTask lets the goroutine of the client's request relay the server's answer, if the call was
// forwarded at once: that goroutine would only wait. A new goroutine would cost a switch and a
// growing stack for every call.
type inlineTask struct {
	mu   sync.Mutex
	open bool // a task can still be offered
	task func()
}

// offerTask passes a task of this lifetime to the goroutine of the client's request. It returns
// false if that goroutine cannot take it.
func (t *inlineTask) offerTask(s *Server, in *lifetime, task func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.open || !s.beginTask(in) {
		return false
	}
	t.open, t.task = false, func() { defer in.tasks.Done(); task() }
	return true
}

// takeTask returns the offered task, or nil. Later tasks are not accepted.
func (t *inlineTask) takeTask() (task func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = false
	return t.task
}
