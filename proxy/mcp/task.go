package mcp

import (
	"github.com/clawai/clawai/policy"
	"github.com/tidwall/gjson"
)

// Created are the handles under which an answer says that its call goes on: the
// taskId of a result's task (MCP 2025-11-25 basic/utilities/tasks), or of a
// result whose resultType is "task" (tasks extension of 2026-07-28). A client may
// take up either.
func Created(result []byte) (ids []string) {
	o := object(result)
	if !o.IsObject() {
		return nil
	}
	if id := member(member(o, "task"), "taskId"); id.Type == gjson.String {
		ids = append(ids, id.Str)
	}
	if id := member(o, "taskId"); id.Type == gjson.String && member(o, "resultType").Str == "task" {
		ids = append(ids, id.Str)
	}
	return ids
}

// readTasks notes the tasks that a message is about: whoever sends it must have
// made the calls that became them.
func (m *Message) readTasks(fs *fields) {
	switch m.Method.Name {
	case "tasks/get", "tasks/cancel", "tasks/result", "tasks/update", "notifications/tasks", "notifications/tasks/status":
		m.task(fs.at[fTaskID], "taskId is not a string")
	case "subscriptions/listen":
		ids := member(fs.at[fNotifications], "taskIds")
		if !ids.IsArray() {
			if ids.Exists() && ids.Type != gjson.Null {
				m.malformed("taskIds is not an array")
			}
			return
		}
		ids.ForEach(func(_, id gjson.Result) bool {
			m.task(id, "taskIds holds something that is not a string")
			return true
		})
	}
}

func (m *Message) task(id gjson.Result, otherwise string) {
	switch {
	case id.Type == gjson.String:
		m.Tasks = append(m.Tasks, id.Str)
	case id.Exists():
		m.malformed(otherwise)
	}
}

// malformed makes sure that no rule allows the message.
func (m *Message) malformed(why string) {
	m.Calls = append(m.Calls, policy.Call{
		Method: m.Method.Name, Subject: policy.MethodSubject, Names: []string{m.Method.Name}, Malformed: why,
	})
}
