package proxy

import (
	"strings"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/policy"
)

// maxTasks is how many tasks are remembered for one direction. maxTaskBytes is the maximum total
// size of the arguments of their calls. A forgotten task cannot be polled any more, so its call
// must be made again.
const (
	maxTasks     = 1024
	maxTaskBytes = 16 << 20
)

// tasks holds the calls that were answered with a task (MCP 2025-11-25 basic/utilities/tasks, and
// the tasks extension of 2026-07-28). The work of such a call continues after the answer, and
// anyone who sends the task id gets the result. So a task id is a capability. Only task ids from
// answers in this session are accepted.
type tasks struct {
	byID  map[string]*taskOrigin // calls by taskId
	order []string               // task ids, the oldest first
	bytes int                    // total size of the arguments
}

// taskOrigin holds the calls that became a task.
type taskOrigin struct {
	calls  []policy.Call
	record string // id of the record of the decision about the calls
	bytes  int    // size of the calls' arguments
}

// addTasks stores the ids of the tasks that a call became. The caller holds t.mu.
func (t *table) addTasks(req *request, ids []string) {
	if len(ids) == 0 || req.noTask {
		return
	}
	m := &taskOrigin{record: req.record}
	for _, c := range req.calls {
		c.Extra = nil // the rules need only Args
		m.calls = append(m.calls, mcp.CloneCall(c))
		m.bytes += len(c.Args)
	}
	s := &t.pendingRequests(req.from).tasks
	for _, id := range ids {
		if s.byID[id] != nil {
			continue // a task id belongs to the first call that got it
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

// taskCalls holds the calls behind the tasks that a message names.
type taskCalls struct {
	calls   []policy.Call // calls that were forwarded earlier
	record  string        // id of the record of the last call
	unknown bool          // a task in the message belongs to no call of this session
}

// taskCalls returns the calls that became the tasks with these ids. The parameter by is the side
// that made the calls.
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

// attachTasks handles the tasks that m names. It sets x.Work to the calls that became these tasks.
// The parameter by is the side that made these calls. attachTasks returns the given calls. If a
// task is unknown, it adds a malformed call to them. For tasks/cancel it does not set x.Work, so
// that a cancellation is never denied because of the task's work.
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

// unknownTask returns a malformed call for a message that names an unknown task.
func (rc *receiver) unknownTask(method string) policy.Call {
	return policy.Call{
		Server: rc.s.o.Name, Method: method, Subject: policy.MethodSubject, Names: []string{method},
		Malformed: "it names a task that no call of this session became",
	}
}
