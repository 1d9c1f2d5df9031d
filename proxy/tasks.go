package proxy

import (
	"strings"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/policy"
)

// maxTasks is the number of tasks that are remembered for one direction, and maxTaskBytes is the
// total size of the arguments of their calls. A task that was forgotten cannot be polled any more:
// its call has to be made again.
const (
	maxTasks     = 1024
	maxTaskBytes = 16 << 20
)

// tasks holds the calls that were forwarded and answered with a task (MCP 2025-11-25
// basic/utilities/tasks, and the tasks extension of 2026-07-28). The work continues after that
// answer, and its result goes to anyone who sends the task id. A task id is therefore a capability,
// and only the ids in answers of this session count.
type tasks struct {
	byID  map[string]*taskOrigin // by taskId
	order []string               // oldest first
	bytes int                    // total size of the arguments
}

// taskOrigin is the set of calls that became a task.
type taskOrigin struct {
	calls  []policy.Call
	record string // record id of the decision about the calls
	bytes  int    // size of the calls' arguments
}

// addTasks stores the ids of the tasks that a call became. t.mu must be held.
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

// taskCalls holds the calls that became the tasks which a message names.
type taskCalls struct {
	calls   []policy.Call // forwarded earlier
	record  string        // record id of the last call
	unknown bool          // the message names a task that no call of this session became
}

// taskCalls finds the calls that became the tasks with these ids. The side `by` made those calls.
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

// attachTasks sets x.Work to the calls that became the tasks which m names. The side `by` made
// those calls. It returns calls, the calls that the rules judge for m itself, and adds a malformed
// call if a task is unknown. For tasks/cancel x.Work stays empty, so that a cancellation is never
// denied because of the task's work.
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

// unknownTask returns the malformed call for a message that names an unknown task.
func (rc *receiver) unknownTask(method string) policy.Call {
	return policy.Call{
		Server: rc.s.o.Name, Method: method, Subject: policy.MethodSubject, Names: []string{method},
		Malformed: "it names a task that no call of this session became",
	}
}
