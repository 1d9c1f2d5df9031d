package proxy

import (
	"strings"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/policy"
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
	byID  map[string]*taskOrigin // by taskId
	order []string               // oldest first
	bytes int                    // of arguments
}

// taskOrigin is the call that became a task.
type taskOrigin struct {
	calls  []policy.Call
	record string
	bytes  int
}

// addTasks notes the handles under which a call goes on. t.mu is held.
func (t *table) addTasks(req *request, ids []string) {
	if len(ids) == 0 || req.noTask {
		return
	}
	m := &taskOrigin{record: req.record}
	for i := range req.calls {
		m.calls = append(m.calls, cloneCall(&req.calls[i]))
		m.bytes += len(req.calls[i].Args)
	}
	s := &t.pendingRequests(req.from).tasks
	if s.byID == nil {
		s.byID = map[string]*taskOrigin{}
	}
	for _, id := range ids {
		if s.byID[id] != nil {
			continue // a handle stays with the call that had it first
		}
		id = strings.Clone(id)
		s.byID[id], s.order = m, append(s.order, id)
		s.bytes += m.bytes
	}
	for len(s.order) > maxTasks || s.bytes > maxTaskBytes && len(s.order) > 1 {
		oldest := s.order[0]
		s.bytes -= s.byID[oldest].bytes
		delete(s.byID, oldest)
		s.order = s.order[1:]
	}
}

// cloneCall gives a copy of a call that does not keep its frame alive.
func cloneCall(c *policy.Call) policy.Call {
	k := *c
	k.Method = strings.Clone(c.Method)
	k.Names = make([]string, len(c.Names))
	for i, name := range c.Names {
		k.Names[i] = strings.Clone(name)
	}
	k.Args, k.Extra = append([]byte(nil), c.Args...), nil // the rules look at the first only
	return k
}

// taskCalls is what a message goes on with.
type taskCalls struct {
	calls   []policy.Call // made and let through before
	record  string        // of the last of them
	unknown bool          // it names a task that no call here became
}

// taskCalls finds the calls behind the tasks that a message from this side names.
func (t *table) taskCalls(by mcp.Direction, ids []string) (w taskCalls) {
	if len(ids) == 0 {
		return w
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range ids {
		m := t.pendingRequests(by).tasks.byID[id]
		if m == nil {
			w.unknown = true
			continue
		}
		w.calls, w.record = append(w.calls, m.calls...), m.record
	}
	return w
}

// attachTasks ties a message about tasks to the calls that became them, made by one
// side, and gives what the rules judge of the message itself. Stopping work is
// never denied for what the work is.
func (rc *receiver) attachTasks(x *gate.Exchange, by mcp.Direction, m *mcp.Message, calls []policy.Call) []policy.Call {
	if len(m.Tasks) == 0 {
		return calls
	}
	w := rc.s.table.taskCalls(by, m.Tasks)
	if w.unknown {
		calls = append(calls[:len(calls):len(calls)], rc.unknownTask(m.Method.Name))
	}
	if m.Method.Name != "tasks/cancel" {
		x.Work = w.calls
	}
	x.Event.Ref = w.record
	return calls
}

// unknownTask gives the call of a message about a task that is not the sender's.
func (rc *receiver) unknownTask(method string) policy.Call {
	return policy.Call{
		Server: rc.s.o.Name, Method: method, Subject: policy.MethodSubject, Names: []string{method},
		Malformed: "it names a task that no call of this session became",
	}
}
