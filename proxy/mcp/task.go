package mcp

import (
	"github.com/clawai/clawai/internal/jsonscan"
	"github.com/clawai/clawai/policy"
)

// Created are the handles under which an answer says that its call goes on: the
// taskId of a result's task (MCP 2025-11-25 basic/utilities/tasks), or of a
// result whose resultType is "task" (tasks extension of 2026-07-28). A client may
// take up either.
func Created(result []byte) (ids []string) {
	o := jsonscan.Of(result)
	if id := o.Member("task").Member("taskId"); id.Kind() == jsonscan.String {
		ids = append(ids, id.Text())
	}
	if id := o.Member("taskId"); id.Kind() == jsonscan.String && o.Member("resultType").Text() == "task" {
		ids = append(ids, id.Text())
	}
	return ids
}

// AsksForTask says that a call may be answered with a task: before 2026-07-28 one that
// asks for it, and no other (MCP 2025-11-25 basic/utilities/tasks).
func AsksForTask(c policy.Call) bool {
	return jsonscan.Of(c.Extra).Member("task").Kind() != jsonscan.Absent
}

// readTasks notes the tasks that a message is about: whoever sends it must have
// made the calls that became them.
func (m *Message) readTasks(fs *fields) {
	switch m.Method.Name {
	case "tasks/get", "tasks/cancel", "tasks/result", "tasks/update", "notifications/tasks", "notifications/tasks/status":
		m.task(fs.at[fTaskID], "taskId is not a string")
	case "subscriptions/listen":
		ids := fs.at[fNotifications].Member("taskIds")
		if ids.Kind() != jsonscan.Array && !missing(ids) {
			m.malformed("taskIds is not an array")
		}
		for id := range ids.Elements() {
			m.task(id, "taskIds holds something that is not a string")
		}
	}
}

func (m *Message) task(id jsonscan.Value, otherwise string) {
	switch id.Kind() {
	case jsonscan.String:
		m.Tasks = append(m.Tasks, id.Text())
	case jsonscan.Absent:
	default:
		m.malformed(otherwise)
	}
}

// malformed makes sure that no rule allows the message.
func (m *Message) malformed(why string) {
	m.Calls = append(m.Calls, policy.Call{
		Method: m.Method.Name, Subject: policy.MethodSubject, Names: []string{m.Method.Name}, Malformed: why,
	})
}
