// Package client describes how each agent writes its hook payloads and what answers it expects.
// Each agent is a row of a table (rows.go). The package does not read files or the environment.
package client

import (
	"slices"
)

// Row is the contract of one agent: the form of its payloads, its tool names, and its answers.
// Each row states the version at which this was observed, and how.
type Row struct {
	ID   string // id in wrap's catalogue
	Like bool   // takes the fields that are not set from likeClaude
	Seen string // the version that the row was written for
	From Source // how the row was learned

	// Places in the payload; the first existing place counts. A dot separates the members of
	// nested objects.
	Event, Session, Call, Cwd, Tool, Input, MCPServer, MCPTool []string
	// Roots is the place of the folders that are open in the client. Chosen means that the call
	// itself selects Cwd. If Cwd is chosen, or is not in Roots, relative paths may start in another
	// folder.
	Roots                 []string
	Chosen                bool
	NeedSession, NeedCall bool     // a payload without a session id (call id) is refused
	Version               []string // place of the client's version; nil: the payload has none

	// Marks are members that no other client with the same events writes. A payload with more of
	// them fits this client better. Without are members that the client never writes. An entry
	// may combine members: "a&!b" is a without b.
	Marks, Without []string

	// Begun are the places of the reason why a session begins. The reason "clear" means that the
	// user cleared the earlier session: as measured, that session ends, in the same process.
	Begun []string

	Events []Event
	MCP    mcpNames
	// NameLimit is the length to which the client cuts the names of servers' tools, after it
	// replaces each "." by "_"; 0: it does not change the names.
	NameLimit int
	Servers   []string // the client's built-in servers, which the user's files do not contain
	Model     modelHabits

	Deny  Dress
	Allow string // output that lets a tool run; "": no output
	Pass  string // output for every other event; "": no output
	// Exit0 means that a denial has exit code 0: this client treats any other code as a failed hook
	// and then runs the tool.
	Exit0 bool
	Asks  bool // after the answer "ask" the client shows the person its own dialog (measured)
	// Modes are the permission modes in which Asks is known to hold; "" is a payload without a
	// mode.
	Modes []string
	// Attended names the environment variable that is 0 when nobody watches the client; "": there
	// is none. Project lists the variables that hold the folder in which the client was started.
	Attended string
	Project  []string
}

// Source is the way in which a row was learned. The zero value is not valid.
type Source string

// The sources, the best first.
const (
	Real      Source = "real"   // recorded hook input of a real session
	FromCode  Source = "source" // the client's own code or documentation
	FromUsers Source = "report" // reports of users and other tools
)

// Event is an event for which the hook is called.
type Event struct {
	Name string
	Kind EventKind
	// Tool is the tool's name if the event is for a single tool. Its arguments are then the
	// members of the payload or of Input.
	Tool string
	Asks bool // Row.Asks for this event only
	// By is a member whose presence shows that it is this event, in a payload that names no event.
	By   string
	Pass string // Row.Pass for this event only
}

// PromptMethod is the method of a prompt in the record. Built-in tools have another method.
const PromptMethod = "builtin/prompt"

// UnreadMethod is the method in the record of a payload that no row could parse.
const UnreadMethod = "builtin/unread"

// EventKind is the kind of an event. The zero value is not valid.
type EventKind uint8

// The kinds.
const (
	NoKind  EventKind = iota
	Before            // a tool is about to run: it is judged
	Session           // a session begins
	Prompt            // the user has told the agent something
	Other             // an event without a decision
)

// Dress is the form of a denial on stdout. The reason is also written to stderr.
type Dress uint8

// The forms of a denial.
const (
	Plain      Dress = iota // nothing on stdout, only the exit code
	Specific                // hookSpecificOutput.permissionDecision
	TopLevel                // the same, and permissionDecision at the top level
	Decision                // decision "deny", reason
	Block                   // decision "block", reason
	Permission              // permission, user_message, agent_message
	Cancel                  // cancel, errorMessage
)

// mcpNames is the form in which a client names the tools of servers.
type mcpNames uint8

const (
	noMCP       mcpNames = iota
	doubled              // mcp__SERVER__TOOL
	single               // mcp_SERVER_TOOL, with server and tool in separate members
	colon                // MCP:TOOL, without the server
	slashed              // @SERVER/TOOL
	extension            // SERVER__TOOL
	dashed               // SERVER-TOOL
	underscored          // mcp_SERVER_TOOL, with the server's name shortened
	apart                // server and tool only in separate members
)

// FindRow returns a client's row, or nil if there is none.
func FindRow(id string) *Row {
	for i := range rows {
		if rows[i].ID == id {
			return completeRow(&rows[i])
		}
	}
	return nil
}

// Unnamed is the client that is assumed if the command line names none. An older clawai wrote such
// a command into Claude Code's file, and other clients run the commands in that file too; the
// payload then shows which client it is.
const Unnamed = "claude-code"

// completeRow returns a row with the fields that it takes from likeClaude.
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

// BeforeEventName returns the name of the event before a tool runs, for the answer to an
// unreadable payload.
func (r *Row) BeforeEventName() string {
	for _, e := range r.Events {
		if e.Kind == Before && e.Name != "" {
			return e.Name
		}
	}
	return ""
}

// FilePrefix returns the prefix of the client's ids in the catalogue of wrap.
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
