package reply

import (
	"github.com/clawai/clawai/internal/mcp/schema"
	"github.com/clawai/clawai/internal/text/inspect"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// Promise is what a tool has said of its arguments and of its answers, as schemas; nil is
// none.
type Promise struct {
	Tool          string
	Input, Output []byte
}

// ListPromises gives those of the tools that a result lists.
func ListPromises(result []byte) (all []Promise) {
	for tool := range jsonscan.ValueOf(result).Member("tools").Elements() {
		all = append(all, ReadPromise(tool.Bytes()))
	}
	return all
}

// ReadPromise gives what one entry of a list of tools says.
func ReadPromise(tool []byte) Promise {
	v := jsonscan.ValueOf(tool)
	return Promise{v.Member("name").Text(), v.Member("inputSchema").Bytes(), v.Member("outputSchema").Bytes()}
}

// CheckFit gives what is found in a value that should fit a schema, at a place of root: nothing
// where it does. What was not checked is unscreened.
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

// UnpromisedFinding gives what is found where nobody knows what was promised, or whether it is kept.
func UnpromisedFinding(at, what string) Finding {
	return Finding{Kind: string(inspect.Unscreened), What: what, Pointer: at, Entry: -1, Fixed: true}
}

// CheckSchema holds the answer of a tool to the schema that it was promised by: what is structured
// in it wherever a client may read it, whatever else the answer says that it is.
func (m *Message) CheckSchema(s *schema.Schema) {
	all := m.structuredContents()
	for _, c := range all {
		m.Findings = append(m.Findings, CheckFit(s, c.body.Bytes(), c.at)...)
	}
	if body, at := m.toolAnswer(); body != "" && len(all) == 0 {
		m.Findings = append(m.Findings, Finding{Kind: Schema, What: "it has no structured content", Pointer: at, Entry: -1, Fixed: true})
	}
}

// HoldNothing notes that it is not known what an answer must fit.
func (m *Message) HoldNothing() {
	_, at := m.toolAnswer()
	if all := m.structuredContents(); at == "" && len(all) > 0 {
		at = all[0].at
	}
	if at != "" {
		m.Findings = append(m.Findings, UnpromisedFinding(at, "no list has said here what the tool answers with"))
	}
}

// placed is a part of a message, and where it stands.
type placed struct {
	body jsonscan.Value
	at   string
}

// structuredContents gives what is structured in an answer that is no error, and in what it tells of.
func (m *Message) structuredContents() (all []placed) {
	if m.root != "/result" {
		return nil
	}
	body := m.payloadValue()
	for _, of := range []placed{{body, m.root}, {body.Member("result"), m.root + "/result"}} {
		if content := of.body.Member(structured); content != "" && of.body.Member("isError") != "true" {
			all = append(all, placed{content, of.at + "/" + structured})
		}
	}
	return all
}

const structured = "structuredContent"

// toolAnswer gives what a tool has answered with, and where it stands; "" for what is none, or
// none yet. That of a task may stand in what tells of it.
func (m *Message) toolAnswer() (body jsonscan.Value, at string) {
	body, at = m.payloadValue(), m.root
	if is := body.Member("result"); is.Kind() == jsonscan.Object && body.Member("content") == "" {
		body, at = is, at+"/result"
	}
	kind := body.Member("resultType")
	if m.root != "/result" || kind != "" && kind.Text() != "complete" || body.Member("task") != "" || body.Member("taskId") != "" || body.Member("isError") == "true" {
		return "", ""
	}
	return body, at
}
