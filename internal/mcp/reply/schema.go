package reply

import (
	"github.com/clawai/clawai/internal/mcp/schema"
	"github.com/clawai/clawai/internal/text/inspect"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// Promise holds the schemas that a tool declares for its arguments and its answers. They are nil if
// the tool declares none.
type Promise struct {
	Tool          string
	Input, Output []byte
}

// ListPromises returns the promises of all tools in a list result.
func ListPromises(result []byte) (all []Promise) {
	for tool := range jsonscan.ValueOf(result).Member("tools").Elements() {
		all = append(all, ReadPromise(tool.Bytes()))
	}
	return all
}

// ReadPromise returns the promise of one entry in a list of tools.
func ReadPromise(tool []byte) Promise {
	v := jsonscan.ValueOf(tool)
	return Promise{v.Member("name").Text(), v.Member("inputSchema").Bytes(), v.Member("outputSchema").Bytes()}
}

// CheckFit checks a value against a schema. root is the place of the value. It returns no findings
// if the value fits. If a part was not checked, it returns a finding of kind unscreened.
func CheckFit(s *schema.Schema, value []byte, root string) []Finding {
	switch a := s.CheckValue(value); a.Verdict {
	case schema.Fits:
		return nil
	case schema.Unfit:
		path := make([]string, 0, len(a.At))
		for i := range a.At {
			path = append(path, a.At[len(a.At)-1-i])
		}
		return []Finding{{Kind: Schema, What: "it does not fit its schema (" + a.Why + ")", Pointer: formatPointer(root, path), Entry: -1, Fixed: true}}
	default:
		return []Finding{UnpromisedFinding(root, "it was not held to its schema: "+a.Why)}
	}
}

// UnpromisedFinding returns a finding for a value whose schema is unknown, or for a value that was
// not checked completely against its schema.
func UnpromisedFinding(at, what string) Finding {
	return Finding{Kind: string(inspect.Unscreened), What: what, Pointer: at, Entry: -1, Fixed: true}
}

// CheckSchema checks a tool's answer against the schema that the tool declares. It checks all
// structured content that a client may read, even if the message claims to be another kind of
// answer.
func (m *Message) CheckSchema(s *schema.Schema) {
	all := m.structuredContents()
	for _, c := range all {
		m.Findings = append(m.Findings, CheckFit(s, c.body.Bytes(), c.at)...)
	}
	if body, at := m.toolAnswer(); body != "" && len(all) == 0 {
		m.Findings = append(m.Findings, Finding{Kind: Schema, What: "it has no structured content", Pointer: at, Entry: -1, Fixed: true})
	}
}

// HoldNothing is called for the answer of a tool if no list has named this tool. The schema is then
// unknown, and the answer cannot be compared with it. HoldNothing adds a finding that says so.
func (m *Message) HoldNothing() {
	_, at := m.toolAnswer()
	if all := m.structuredContents(); at == "" && len(all) > 0 {
		at = all[0].at
	}
	if at != "" {
		m.Findings = append(m.Findings, UnpromisedFinding(at, "no list has said here what the tool answers with"))
	}
}

// placedPart is a part of a message, with its place.
type placedPart struct {
	body jsonscan.Value
	at   string // JSON pointer of the part
}

// structuredContents returns the structured content of an answer, and that of a task's result
// inside the answer. It skips errors.
func (m *Message) structuredContents() (all []placedPart) {
	if m.root != "/result" {
		return nil
	}
	body := m.payloadValue()
	for _, outer := range []placedPart{{body, m.root}, {body.Member("result"), m.root + "/result"}} {
		if content := outer.body.Member(structured); content != "" && outer.body.Member("isError") != "true" {
			all = append(all, placedPart{content, outer.at + "/" + structured})
		}
	}
	return all
}

const structured = "structuredContent"

// toolAnswer returns a tool's answer and its place, or "" if the message has none yet. The answer
// of a task may be inside the message about the task.
func (m *Message) toolAnswer() (body jsonscan.Value, at string) {
	body, at = m.payloadValue(), m.root
	if inner := body.Member("result"); inner.Kind() == jsonscan.Object && body.Member("content") == "" {
		body, at = inner, at+"/result"
	}
	kind := body.Member("resultType")
	if m.root != "/result" || kind != "" && kind.Text() != "complete" || body.Member("task") != "" || body.Member("taskId") != "" || body.Member("isError") == "true" {
		return "", ""
	}
	return body, at
}
