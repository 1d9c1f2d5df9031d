package proxy

import (
	"strings"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/mcp"
)

// What one direction remembers of tasks, and of their calls' arguments. What
// falls out cannot be polled any more: its call has to be made again.
const (
	maxTasks     = 1024
	maxTaskBytes = 16 << 20
)

// tasks are the calls that were let through and answered with a task: work that
// goes on, and gives its result to whoever names the handle (MCP 2025-11-25
// basic/utilities/tasks, and the tasks extension of 2026-07-28). A handle is a
// capability, so that only those count which an answer here has given out.
type tasks struct {
	made  map[string]*made // by taskId
	order []string         // oldest first
	bytes int              // of arguments
}

// made is the call that became a task.
type made struct {
	calls  []policy.Call
	record string
	bytes  int
}

// began notes the handles under which a call goes on. t.mu is held.
func (t *table) began(c *call, ids []string) {
	if len(ids) == 0 {
		return
	}
	m := &made{record: c.x.Event.Record}
	for i := range c.x.Calls {
		m.calls = append(m.calls, kept(&c.x.Calls[i]))
		m.bytes += len(c.x.Calls[i].Args)
	}
	s := &t.side(c.from).tasks
	if s.made == nil {
		s.made = map[string]*made{}
	}
	for _, id := range ids {
		if s.made[id] != nil {
			continue // a handle stays with the call that had it first
		}
		id = strings.Clone(id)
		s.made[id], s.order = m, append(s.order, id)
		s.bytes += m.bytes
	}
	for len(s.order) > maxTasks || s.bytes > maxTaskBytes && len(s.order) > 1 {
		oldest := s.order[0]
		s.bytes -= s.made[oldest].bytes
		delete(s.made, oldest)
		s.order = s.order[1:]
	}
}

// kept is a copy of a call that does not keep its frame alive.
func kept(c *policy.Call) policy.Call {
	k := *c
	k.Names = make([]string, len(c.Names))
	for i, name := range c.Names {
		k.Names[i] = strings.Clone(name)
	}
	k.Args, k.Extra = append([]byte(nil), c.Args...), nil // the rules look at the first only
	return k
}

// work is what a message goes on with.
type work struct {
	calls  []policy.Call // made and let through before
	record string        // of the last of them
	lost   bool          // it names a task that no call here became
}

// work finds the calls behind the tasks that a message from this side names.
func (t *table) work(by mcp.Direction, ids []string) (w work) {
	if len(ids) == 0 {
		return w
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range ids {
		m := t.side(by).tasks.made[id]
		if m == nil {
			w.lost = true
			continue
		}
		w.calls, w.record = append(w.calls, m.calls...), m.record
	}
	return w
}

// goesOn ties a message about tasks to the calls that became them, made by one
// side, and gives what the rules judge of the message itself. Stopping work is
// never denied for what the work is.
func (l *lane) goesOn(x *gate.Exchange, by mcp.Direction, m *mcp.Message, calls []policy.Call) []policy.Call {
	if len(m.Tasks) == 0 {
		return calls
	}
	w := l.s.table.work(by, m.Tasks)
	if w.lost {
		calls = append(calls[:len(calls):len(calls)], l.unknownTask(m.Method.Name))
	}
	if m.Method.Name != "tasks/cancel" {
		x.Work = w.calls
	}
	x.Event.Ref = w.record
	return calls
}

// unknownTask is the call of a message about a task that is not the sender's.
func (l *lane) unknownTask(method string) policy.Call {
	return policy.Call{
		Server: l.s.o.Name, Method: method, Subject: policy.MethodSubject, Names: []string{method},
		Malformed: "it names a task that no call of this session became",
	}
}
