// Package client describes how each agent writes its hook payloads and which answers it expects.
// Each agent is a row of a table (rows.go). The package reads no files and no environment
// variables.
package client

import (
	"slices"
)

// Row describes one agent: the form of its payloads, its tool names, and its answers. Each row also
// states for which version this was observed, and how.
type Row struct {
	ID   string // id of the client in wrap's catalogue
	Like bool   // likeClaude sets the fields that the row leaves empty; if false, they stay empty
	Seen string // the version that the row was written for
	From Source // how the facts in the row were learned

	// The places of these values in the payload. The first place that exists is used. A place is a
	// member name, or several names with dots between for nested objects.
	Event, Session, Call, Cwd, Tool, Input, MCPServer, MCPTool []string
	// Roots is the place of the folders that are open in the client. Chosen means that the call
	// itself contains Cwd. If Cwd is chosen by the call or is not in Roots, relative paths may
	// start in another folder.
	Roots                 []string
	Chosen                bool
	NeedSession, NeedCall bool     // a payload without an id of the session, or of the call, is refused
	Version               []string // place of the client's version; nil if the payload has none

	// Marks are members that only this client writes among the clients with the same events. A
	// payload with more of them fits this client better. Without are members that this client never
	// writes. An entry may combine members: "a&!b" means a without b.
	Marks, Without []string

	// Begun are the places in the payload where the reason why a session begins may be. The reason
	// "clear" means that the user cleared the earlier session. Measurements show that the earlier
	// session then ends and the process continues.
	Begun []string

	Events []Event
	MCP    mcpNames
	// NameLimit is the length to which the client cuts the names of servers' tools. Before that it
	// replaces each "." by "_". 0 means that the client does not change the names.
	NameLimit int
	Servers   []string // the client's built-in servers, which are not in the user's files
	Model     modelHabits

	Deny  Dress
	Allow string // output that lets a tool run; "" means that the tool runs if the hook writes nothing
	Pass  string // output for every other event; "" means that the hook writes nothing
	// Exit0 means that a denial must have exit code 0. This client treats any other code as a
	// failed hook and then runs the tool.
	Exit0 bool
	Asks  bool // measured: after the answer "ask" the client shows the person its own dialog
	// Modes are the permission modes in which Asks was found to be true. "" stands for a payload
	// without a mode.
	Modes []string
	// Attended is the name of an environment variable that the client sets to 0 when no person
	// watches. It is "" if the client has no such variable. Project lists the environment variables
	// with the folder in which the client was started.
	Attended string
	Project  []string
}

// Source tells how a row was learned. The zero value is not valid.
type Source string

// The sources, the most reliable first.
const (
	Real      Source = "real"   // recorded hook input of a real session
	FromCode  Source = "source" // the client's own code or documentation
	FromUsers Source = "report" // reports of users and of other tools
)

// Event is an event for which the client calls the hook.
type Event struct {
	Name string
	Kind EventKind
	// Tool is the name of the tool if the event is for only one tool. Then the arguments are
	// members of the payload itself or of Input.
	Tool string
	Asks bool // like Row.Asks, but for this event only
	// By is a member that only this event has. It identifies the event in a payload that names no
	// event.
	By   string
	Pass string // like Row.Pass, but for this event only
}

// PromptMethod is the method of a prompt in the record. Calls of built-in tools have another
// method.
const PromptMethod = "builtin/prompt"

// UnreadMethod is the method in the record for a payload that could not be parsed.
const UnreadMethod = "builtin/unread"

// EventKind is the kind of an event. The zero value is not valid.
type EventKind uint8

// The kinds.
const (
	NoKind  EventKind = iota
	Before            // a tool is about to run, and its call is judged
	Session           // a session begins
	Prompt            // the user has told the agent something
	Other             // any other event; there is no decision
)

// Dress is the form of a denial on stdout. In every form the reason also goes to stderr.
type Dress uint8

// The forms of a denial.
const (
	Plain      Dress = iota // nothing on stdout; only the exit code denies
	Specific                // hookSpecificOutput.permissionDecision
	TopLevel                // like Specific, with permissionDecision also at the top level
	Decision                // decision "deny", reason
	Block                   // decision "block", reason
	Permission              // permission, user_message, agent_message
	Cancel                  // cancel, errorMessage
)

// mcpNames is the form of a client's names for servers' tools.
type mcpNames uint8

const (
	noMCP       mcpNames = iota
	doubled              // mcp__SERVER__TOOL
	single               // mcp_SERVER_TOOL; server and tool are also in separate members
	colon                // MCP:TOOL, without the server's name
	slashed              // @SERVER/TOOL
	extension            // SERVER__TOOL
	dashed               // SERVER-TOOL
	underscored          // mcp_SERVER_TOOL, with a shortened server's name
	apart                // server and tool are only in separate members, without a joined name
)

// FindRow returns the row of a client, or nil if there is none.
func FindRow(id string) *Row {
	for i := range rows {
		if rows[i].ID == id {
			return completeRow(&rows[i])
		}
	}
	return nil
}

// Unnamed is the client that is assumed if the command line names none. An older clawai wrote such
// a command into Claude Code's file, and other clients also run the commands in that file. The
// payload then shows which client it is.
const Unnamed = "claude-code"

// completeRow returns a row in which likeClaude has set the empty fields, if Like is true.
func completeRow(r *Row) *Row {
	if r.Like {
		return likeClaude(*r)
	}
	return r
}

// IDs returns the ids of the clients.
func IDs() (ids []string) {
	for i := range rows {
		ids = append(ids, rows[i].ID)
	}
	return ids
}

func (r *Row) findEvent(name string) *Event {
	if i := slices.IndexFunc(r.Events, func(e Event) bool { return e.Name == name }); i >= 0 {
		return &r.Events[i]
	}
	return nil
}

// BeforeEventName returns the name of the event before a tool runs. It is needed for the answer to
// an unreadable payload.
func (r *Row) BeforeEventName() string {
	for _, e := range r.Events {
		if e.Kind == Before && e.Name != "" {
			return e.Name
		}
	}
	return ""
}

// FilePrefix returns the prefix of the client's ids in wrap's catalogue.
func (r *Row) FilePrefix() string {
	switch r.ID {
	case "gemini-cli":
		return "gemini-"
	case "qwen-code":
		return "qwen-"
	case "kimi-code":
		return "kimi-"
	}
	return r.ID + "-"
}
