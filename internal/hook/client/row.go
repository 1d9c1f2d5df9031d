// Package client knows how agents speak to a hook: what stands where in what they write,
// and how an answer has to look. Each is a row of a table (rows.go). Reads no file and no
// environment.
package client

import (
	"slices"
)

// Row is one agent.
type Row struct {
	ID   string // as in wrap's catalogue
	Like bool   // as like has it, but for what stands here

	// Where things stand in the payload; of several places the first that is there counts.
	// Members of objects within are joined by a dot.
	Event, Session, Call, Cwd, Tool, Input, MCPServer, MCPTool []string
	NeedSession, NeedCall                                      bool   // a payload without is not read
	Camel                                                      string // who has read this client's file, if the session's id is sessionId

	// Begun is what a session begins with; "clear" then ends the one before in the same
	// process, measured.
	Begun []string

	Events []Event
	MCP    mcpNames
	Deny   Dress
	Asks   bool // "ask" shows the person the client's own dialog, measured
	// Attended is the variable that is 0 where nobody sits before the client; Project
	// are those with the folder that it was started in.
	Attended string
	Project  []string
}

// Event is one event that the hook is called for.
type Event struct {
	Name string
	Kind Kind
	// Tool is the tool's name where the event is that of one tool, and its input the
	// members of the payload or of Input.
	Tool string
	Asks bool // Row.Asks, for this event alone
}

// PromptMethod is what the record calls a prompt by, beside the method of built-in tools.
const PromptMethod = "builtin/prompt"

// Kind is what an event is about. The zero value is none.
type Kind uint8

// The kinds.
const (
	NoKind  Kind = iota
	Before       // a tool is about to run: it is judged
	Session      // a session begins
	Prompt       // the user has told the agent something
	Other        // nothing is decided
)

// Dress is how a denial is written, beside its reason on stderr.
type Dress uint8

// The dresses.
const (
	Plain      Dress = iota // nothing on stdout; exit code 2 alone
	Specific                // hookSpecificOutput.permissionDecision
	TopLevel                // the same, and permissionDecision beside it
	Decision                // decision, reason
	Permission              // permission, user_message, agent_message
	Cancel                  // cancel, errorMessage; exit code 0, for any other is a hook that failed
)

// mcpNames is how a client calls the tools of servers.
type mcpNames uint8

const (
	noMCP     mcpNames = iota
	doubled            // mcp__SERVER__TOOL
	single             // mcp_SERVER_TOOL, with the two apart in the payload
	colon              // MCP:TOOL, without the server
	slashed            // @SERVER/TOOL
	extension          // SERVER__TOOL
	apart              // the two in the payload
)

// Find is the row of a client; nil when there is none.
func Find(id string) *Row {
	for i := range rows {
		if r := &rows[i]; r.ID == id {
			if r.Like {
				return like(*r)
			}
			return r
		}
	}
	return nil
}

// IDs lists the clients.
func IDs() (ids []string) {
	for i := range rows {
		ids = append(ids, rows[i].ID)
	}
	return ids
}

func (r *Row) event(name string) *Event {
	if i := slices.IndexFunc(r.Events, func(e Event) bool { return e.Name == name }); i >= 0 {
		return &r.Events[i]
	}
	return nil
}

// Before is the name of the event before a tool runs: for the answer to what was not read.
func (r *Row) Before() string {
	for _, e := range r.Events {
		if e.Kind == Before && e.Name != "" {
			return e.Name
		}
	}
	return ""
}

// Files is how the ids of the client's rows in the catalogue of wrap begin.
func (r *Row) Files() string {
	switch r.ID {
	case "gemini-cli":
		return "gemini-"
	case "qwen-code":
		return "qwen-"
	}
	return r.ID + "-"
}
