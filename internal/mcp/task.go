package mcp

import (
	"strings"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy"
)

// ReadOutcome reads an answer. failed reports whether the call failed. tasks are the ids of the
// tasks in which the call continues. Such an id is the taskId of a result's task (MCP 2025-11-25
// basic/utilities/tasks), or of a result with the resultType "task" (tasks extension of
// 2026-07-28). There may be both, and a client may use either.
func ReadOutcome(f *frame.Frame) (failed bool, tasks []string) {
	var task, own, kind jsonscan.Value
	for name, value := range jsonscan.ValueOf(f.Result).IndexedMembers(&f.Index) {
		switch name.Text() {
		case "isError":
			failed = value == "true"
		case "task":
			task = value.Member("taskId")
		case "taskId":
			own = value
		case "resultType":
			kind = value
		}
	}
	if kind.Text() != "task" {
		own = ""
	}
	for _, id := range []jsonscan.Value{task, own} {
		if id.Kind() == jsonscan.String {
			tasks = append(tasks, strings.Clone(id.Text())) // a copy, because otherwise the string would keep a large result in memory
		}
	}
	return failed || f.Error != nil, tasks
}

// AsksForTask reports whether a call may be answered with a task. Before 2026-07-28 this is allowed
// only for a call that asks for a task (MCP 2025-11-25 basic/utilities/tasks).
func AsksForTask(c policy.Call) bool {
	return jsonscan.ValueOf(c.Extra).Member("task").Kind() != jsonscan.Absent
}

// readTasks adds the tasks that a message is about. The sender of the message must have made the
// calls that became these tasks. Package proxy checks this.
func (m *Message) readTasks(fs *fields) {
	switch m.Method.Name {
	case "tasks/get", "tasks/cancel", "tasks/result", "tasks/update", "notifications/tasks", "notifications/tasks/status":
		m.addTask(fs.at[fTaskID], "taskId is not a string")
	case "subscriptions/listen":
		ids := fs.at[fNotifications].Member("taskIds")
		if ids.Kind() != jsonscan.Array && !isMissing(ids) {
			m.addMalformed("taskIds is not an array")
		}
		for id := range ids.Elements() {
			m.addTask(id, "taskIds holds something that is not a string")
		}
	}
}

func (m *Message) addTask(id jsonscan.Value, otherwise string) {
	switch id.Kind() {
	case jsonscan.String:
		m.Tasks = append(m.Tasks, id.Text())
	case jsonscan.Absent:
	default:
		m.addMalformed(otherwise)
	}
}

// addMalformed adds a malformed call, so that the rules deny the message.
func (m *Message) addMalformed(why string) {
	m.Calls = append(m.Calls, policy.Call{
		Method: m.Method.Name, Subject: policy.MethodSubject, Names: []string{m.Method.Name}, Malformed: why,
	})
}
