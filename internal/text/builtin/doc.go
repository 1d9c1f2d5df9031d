// Package builtin knows the tools that agents bring along, which no MCP server offers:
// the shell, the editor, the web. Each has a class, and some of its arguments have a
// name that they share with those of the class's other tools, so that one rule speaks
// of all of them. The tables are data (tools.go). Pure.
//
// The client is named as the catalogue of wrap names it. None of this ever holds for a
// tool of an MCP server, whatever that calls itself.
package builtin

import (
	"slices"
	"strings"
)

// Method is that of a call of a built-in tool, in place of a JSON-RPC method. No
// message of MCP that has it is about a tool.
const Method = "builtin/call"

// Tool is what is known of a built-in tool. The zero value is one of which nothing is.
type Tool struct {
	Class string // "" when it has none
	row   *row
}

// SharedName gives the class's name of the tool's own argument; "" where it has the name
// already, or none.
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

// KnowsArgument reports whether all that an argument of the tool may hold is known: it names no
// place or command, or Complete has added the places that it names.
func (t Tool) KnowsArgument(own string) bool {
	if t.row == nil || !t.row.contract {
		return t.row != nil && t.row.gathersArgument(own)
	}
	return listsName(t.row.plain, own) || listsName(t.row.globs, own) || t.row.hasNested(own) || t.row.gathersArgument(own)
}

func listsName(names, name string) bool {
	for n := range strings.FieldsSeq(names) {
		if n == name {
			return true
		}
	}
	return false
}

// PatchArgument is the name under which a tool that takes the text of a patch may have it.
const PatchArgument = "input"

// TakesPatch reports whether the tool's argument is the text of a patch: some clients write
// that text where others have the arguments.
func (t Tool) TakesPatch() bool { return t.workKind() == patched }

// FindTool looks a client's tool up.
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

// ListClients lists whose tools are known.
func ListClients() (ids []string) {
	for i := range clients {
		ids = append(ids, clients[i].id)
	}
	return ids
}

// ListClasses lists the classes, and of each the names of its arguments.
func ListClasses() []Class { return classes }

// Class is what tools have in common.
type Class struct {
	Name string
	Args []string // the names of arguments that they share
	Is   string   // for people
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

// ToolNames lists the tools of a client that have a class.
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
