package reverse

import "sync"

// inlineTask passes work to the goroutine of the client's request. If the call was forwarded at
// once, this goroutine relays the server's answer, because it would otherwise only wait. A new
// goroutine would cost a switch and a growing stack for every call.
type inlineTask struct {
	mu   sync.Mutex
	open bool // true while a task may be offered
	task func()
}

// offerTask passes a task of this lifetime to the goroutine of the client's request. It returns
// false if that goroutine does not take tasks.
func (t *inlineTask) offerTask(s *Server, in *lifetime, task func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.open || !s.beginTask(in) {
		return false
	}
	t.open, t.task = false, func() { defer in.tasks.Done(); task() }
	return true
}

// takeTask returns the offered task, or nil. After that no task is accepted.
func (t *inlineTask) takeTask() (task func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = false
	return t.task
}
