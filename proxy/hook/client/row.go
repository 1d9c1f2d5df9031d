// Package client knows how agents speak to a hook: what stands where in what they write,
// and how an answer has to look. Each is a row of a table (rows.go). Reads no file and no
// environment.
package client

import (
	"slices"
)

// Row is the contract of one agent: how its payloads look, how it names tools, and what
// it takes for an answer. Each row says at which version that was seen, and how.
type Row struct {
	ID   string // as in wrap's catalogue
	Like bool   // as like has it, but for what stands here
	Seen string // the version that the row was written for
	From Source // how it was seen there

	// Where things stand in the payload; of several places the first that is there counts.
	// Members of objects within are joined by a dot.
	Event, Session, Call, Cwd, Tool, Input, MCPServer, MCPTool []string
	NeedSession, NeedCall                                      bool     // a payload without is not read
	Version                                                    []string // of the client; nil where it does not say

	// Marks are members that no other client with the same events writes. A payload with
	// more of them is rather this client's. Without are members that it never writes. Both
	// may be several at once: "a&!b" is a without b.
	Marks, Without []string

	// Begun are the places that say why a session begins; "clear" then ends the one before in the same
	// process, measured.
	Begun []string

	Events []Event
	MCP    mcpNames
	// NameLimit is the length at which the client cuts the names of servers' tools, in which it
	// writes "_" for each "."; 0 where it leaves them as they are.
	NameLimit int
	Servers   []string // of the client's own, whose names its user's files do not hold

	Deny  Dress
	Allow string // what lets a tool run; "" where silence does
	Pass  string // what answers every other event; "" where silence does
	// Exit0 says that a denial ends with exit code 0: any other is a hook that failed, and
	// the client then runs the tool.
	Exit0 bool
	Asks  bool // "ask" shows the person the client's own dialog, measured
	// Modes are the permission modes in which that is known; "" is a payload that names none.
	Modes []string
	// Attended is the variable that is 0 where nobody sits before the client; Project
	// are those with the folder that it was started in.
	Attended string
	Project  []string
}

// Source tells how a row was learned. The zero value is no source.
type Source string

// The sources, the best first.
const (
	Real      Source = "real"   // a session of the client, with its hook's input written down
	FromCode  Source = "source" // the client's own code or documentation
	FromUsers Source = "report" // what users and other tools report
)

// Event is one event that the hook is called for.
type Event struct {
	Name string
	Kind EventKind
	// Tool is the tool's name where the event is that of one tool, and its input the
	// members of the payload or of Input.
	Tool string
	Asks bool // Row.Asks, for this event alone
	// By is the member that tells the event where a payload names none.
	By   string
	Pass string // Row.Pass, for this event alone
}

// PromptMethod is the method under which the record has a prompt, beside that of built-in tools.
const PromptMethod = "builtin/prompt"

// UnreadMethod is the method under which the record has a payload that no row could read.
const UnreadMethod = "builtin/unread"

// EventKind tells events apart by their subject. The zero value is no kind.
type EventKind uint8

// The kinds.
const (
	NoKind  EventKind = iota
	Before            // a tool is about to run: it is judged
	Session           // a session begins
	Prompt            // the user has told the agent something
	Other             // nothing is decided
)

// Dress is how a denial is written, beside its reason on stderr.
type Dress uint8

// The dresses.
const (
	Plain      Dress = iota // nothing on stdout; the exit code alone
	Specific                // hookSpecificOutput.permissionDecision
	TopLevel                // the same, and permissionDecision beside it
	Decision                // decision "deny", reason
	Block                   // decision "block", reason
	Permission              // permission, user_message, agent_message
	Cancel                  // cancel, errorMessage
)

// mcpNames is how a client calls the tools of servers.
type mcpNames uint8

const (
	noMCP       mcpNames = iota
	doubled              // mcp__SERVER__TOOL
	single               // mcp_SERVER_TOOL, with the two apart in the payload
	colon                // MCP:TOOL, without the server
	slashed              // @SERVER/TOOL
	extension            // SERVER__TOOL
	dashed               // SERVER-TOOL
	underscored          // mcp_SERVER_TOOL, the server's name cut short
	apart                // the two in the payload
)

// FindRow looks a client's row up; nil for a client that has none.
func FindRow(id string) *Row {
	for i := range rows {
		if rows[i].ID == id {
			return completeRow(&rows[i])
		}
	}
	return nil
}

// Unnamed is the client that is meant where no word names one: an entry that an older clawai
// wrote into Claude Code's file is started without its arguments by other clients that read
// it. The payload tells whose it is.
const Unnamed = "claude-code"

// completeRow gives a row with all that it takes over.
func completeRow(r *Row) *Row {
	if r.Like {
		return likeClaude(*r)
	}
	return r
}

// IDs lists the clients.
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

// BeforeEventName gives the name of the event before a tool runs: for the answer to what was not read.
func (r *Row) BeforeEventName() string {
	for _, e := range r.Events {
		if e.Kind == Before && e.Name != "" {
			return e.Name
		}
	}
	return ""
}

// FilePrefix gives how the ids of the client's rows in the catalogue of wrap begin.
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
