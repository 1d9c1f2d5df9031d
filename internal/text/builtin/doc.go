// Package builtin holds tables of the built-in tools of agents: the shell, the editor, the web. No
// MCP server has these tools. Each tool has a class. All tools of a class use the same names for
// some arguments, so that one rule covers all of them. The tables are data (tools.go). The package
// reads and writes nothing.
//
// A client has the same name as in the catalogue of clawai wrap. The tables never apply to a tool
// of an MCP server, even if the names are equal.
package builtin

import (
	"slices"
	"strings"
)

// Method is the method of a call of a built-in tool. Other calls have a JSON-RPC method. No MCP
// message about a tool has the method "builtin/call".
const Method = "builtin/call"

// Tool is an entry of the tables. The zero value is a tool that is not in the tables.
type Tool struct {
	Class string // "" when the tool has no class
	row   *row
}

// SharedName returns the name that the class uses for an argument of the tool. The parameter own is
// the name that the tool uses. SharedName returns "" if both names are equal, or if the class has
// no such argument.
func (t Tool) SharedName(own string) string {
	switch {
	case t.row == nil:
		return ""
	case own == placesArgument && t.row.contract:
		return "path"
	case t.row.args == "":
		return ""
	}
	for pair := range strings.FieldsSeq(t.row.args) {
		if from, to, _ := strings.Cut(pair, ">"); from == own {
			return to
		}
	}
	return ""
}

// OwnNames returns the names that the tool uses for an argument that its class names so, in any case.
func (t Tool) OwnNames(shared string) (own []string) {
	if t.row == nil {
		return nil
	}
	if t.row.contract && strings.EqualFold(shared, "path") {
		own = append(own, placesArgument)
	}
	for pair := range strings.FieldsSeq(t.row.args) {
		if from, to, _ := strings.Cut(pair, ">"); strings.EqualFold(to, shared) {
			own = append(own, from)
		}
	}
	return own
}

// KnowsArgument reports whether rules see all files and commands in an argument. That is so if the
// argument never names a file or a command, or if CompleteArguments copies the names into an
// argument that rules read.
func (t Tool) KnowsArgument(own string) bool {
	if t.row == nil || !t.row.contract {
		return t.row != nil && t.row.gathersArgument(own)
	}
	return listsName(t.row.plain, own) || listsName(t.row.globs, own) || t.row.hasNested(own) || t.row.gathersArgument(own)
}

// ShowsContent reports whether the tool searches files and shows their content.
func (t Tool) ShowsContent() bool { return t.row != nil && t.row.content }

func listsName(names, name string) bool {
	for n := range strings.FieldsSeq(names) {
		if n == name {
			return true
		}
	}
	return false
}

// PatchArgument is a name that some clients use for the argument with the text of a patch.
const PatchArgument = "input"

// TakesPatch reports whether the tool gets the text of a patch. Some clients send this text instead
// of a JSON object of arguments.
func (t Tool) TakesPatch() bool { return t.workKind() == patchFiles }

// FindTool returns the entry for a tool of a client; the zero Tool if there is none.
func FindTool(client, tool string) Tool {
	for i := range clients {
		if clients[i].id != client {
			continue
		}
		for j := range clients[i].tools {
			if row := &clients[i].tools[j]; slices.Contains(row.names, tool) {
				return Tool{row.class, row}
			}
		}
	}
	return Tool{}
}

// ListClients lists the ids of the clients whose tools are in the tables.
func ListClients() (ids []string) {
	for i := range clients {
		ids = append(ids, clients[i].id)
	}
	return ids
}

// ListClasses lists the classes of tools.
func ListClasses() []Class { return classes }

// Class is a class of tools.
type Class struct {
	Name string
	Args []string // names of the arguments that all tools of the class use
	Is   string   // description for people
}

var classes = []Class{
	{"shell", []string{"command", "cwd", "background"}, "runs a command"},
	{"read", []string{"path"}, "reads files"},
	{"search", []string{"path", "pattern"}, "looks for files, or in them"},
	{"write", []string{"path", "content"}, "writes, changes or removes files"},
	{"fetch", []string{"url"}, "gets a page from the web"},
	{"websearch", []string{"query"}, "asks a search engine"},
	{"agent", []string{"prompt"}, "starts or instructs another agent"},
	{"ask", nil, "asks the user"},
	{"plan", nil, "shows a plan"},
	{"task", nil, "keeps the agent's list of tasks"},
}

// ToolNames lists the names of a client's tools in a class.
func ToolNames(client, class string) (names []string) {
	for i := range clients {
		for _, row := range clients[i].tools {
			if clients[i].id == client && row.class == class {
				names = append(names, row.names...)
			}
		}
	}
	return names
}
