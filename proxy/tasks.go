package proxy

import (
	"strings"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/policy"
)

// Limits of the tasks that one direction remembers, and of their calls' arguments. A task that is
// dropped cannot be polled any more: its call has to be made again.
const (
	maxTasks     = 1024
	maxTaskBytes = 16 << 20
)

// tasks holds the calls that were let through and answered with a task: work that goes on, and
// whose result goes to anyone who sends the task id (MCP 2025-11-25 basic/utilities/tasks, and
// the tasks extension of 2026-07-28). A task id is a capability, so only the ids in answers of
// this session count.
type tasks struct {
	byID  map[string]*taskOrigin // by taskId
	order []string               // oldest first
	bytes int                    // total size of the arguments
}

// taskOrigin is the set of calls that became a task.
type taskOrigin struct {
	calls  []policy.Call
	record string
	bytes  int
}

// addTasks notes the task ids under which a call goes on. t.mu is held.
func (t *table) addTasks(req *request, ids []string) {
	if len(ids) == 0 || req.noTask {
		return
	}
	m := &taskOrigin{record: req.record}
	for _, c := range req.calls {
		c.Extra = nil // the rules use Args only
		m.calls = append(m.calls, mcp.CloneCall(c))
		m.bytes += len(c.Args)
	}
	s := &t.pendingRequests(req.from).tasks
	for _, id := range ids {
		if s.byID[id] != nil {
			continue // a task id stays with its first call
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

// taskCalls holds the calls that a message about tasks continues.
type taskCalls struct {
	calls   []policy.Call // made and let through before
	record  string        // record id of the last call
	unknown bool          // the message names a task that no call of this session became
}

// taskCalls finds the calls that became the tasks which a message from this side names.
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

// attachTasks links a message about tasks to the calls that became them, made by one side. It
// returns the calls that the rules judge for the message itself. tasks/cancel is never denied
// because of the task's work.
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

// unknownTask returns the malformed call for a message about a task that is not the sender's.
func (rc *receiver) unknownTask(method string) policy.Call {
	return policy.Call{
		Server: rc.s.o.Name, Method: method, Subject: policy.MethodSubject, Names: []string{method},
		Malformed: "it names a task that no call of this session became",
	}
}
