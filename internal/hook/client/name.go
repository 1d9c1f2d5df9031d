package client

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/builtin"
	"github.com/clawai/clawai/internal/jsonscan"
)

// named is the tool of a server. wraps says that its arguments stand among those of a tool
// of the client's own that calls it.
type named struct {
	server, tool string
	wraps        bool
}

var errNoServer = errors.New("it does not say of which server the tool is")

// split gives the server's tools that a name may mean: none when the client brings the tool
// along, several where the name can be cut in more than one way.
func (r *Row) split(root object, tool string, input []byte, e Event) ([]named, error) {
	server, _, err := root.text(r.MCPServer)
	if err != nil {
		return nil, err
	}
	own, _, err := root.text(r.MCPTool)
	if err != nil {
		return nil, err
	}
	if r.MCP == apart && e.Tool == "" {
		if server == "" || own == "" {
			return nil, missing([]string{"the server, or its tool,"}, nil)
		}
		return []named{{server, own, true}}, nil
	}
	if builtin.Of(r.ID, tool).Class != "" {
		return nil, nil
	}
	if slices.Contains(callers, tool) {
		return called(input)
	}
	if rest, found := strings.CutPrefix(tool, "mcp__"); found && r.MCP != single {
		return r.cuts(rest, "__", server)
	}
	switch r.MCP {
	case single:
		switch {
		case server != "" && own != "":
			return []named{{server, own, false}}, nil
		case server != "", own != "", strings.HasPrefix(tool, "mcp_"):
			return nil, errNoServer
		}
	case colon:
		if rest, found := strings.CutPrefix(tool, "MCP:"); found {
			return []named{{"", rest, false}}, nil
		}
		if e.Name == "beforeMCPExecution" {
			return []named{{"", tool, false}}, nil
		}
	case slashed:
		if rest, found := strings.CutPrefix(tool, "@"); found {
			server, own, found := strings.Cut(rest, "/")
			if !found || server == "" || own == "" {
				return nil, errNoServer
			}
			return []named{{server, own, false}}, nil
		}
	case extension:
		if strings.Contains(tool, "__") {
			return r.cuts(tool, "__", "")
		}
	case dashed:
		if strings.Contains(tool, "-") {
			return r.cuts(tool, "-", "")
		}
	case underscored:
		if rest, found := strings.CutPrefix(tool, "mcp_"); found {
			return r.cuts(rest, "_", server)
		}
	}
	return nil, nil
}

// callers are tools of clients that call a server's tool, which their arguments name.
var callers = []string{"call_mcp_tool", "use_mcp_tool", "mcp_call_tool", "use_tool"}

// called is the server's tool that the arguments of such a tool name.
func called(input []byte) ([]named, error) {
	if input == nil {
		return nil, errNoServer
	}
	args := object{jsonscan.Of(input)}
	server, _, err := args.text([]string{"ServerName", "server_name", "serverName", "server"})
	if err != nil {
		return nil, err
	}
	tool, _, err := args.text([]string{"ToolName", "tool_name", "toolName", "tool", "name"})
	switch {
	case err != nil || tool == "":
		return nil, missing([]string{"the server's tool"}, err)
	case server != "":
		return []named{{server, tool, true}}, nil
	}
	all, err := (&Row{}).cuts(strings.TrimPrefix(tool, "mcp__"), "__", "")
	for i := range all {
		all[i].wraps = true
	}
	return all, err
}

// cuts takes SERVER__TOOL apart, wherever that can be done; server is what the client
// calls it, with other characters perhaps, or "" when it does not say. The server of a
// plugin keeps the prefix that tells it from one of the owner's with the same name.
func (r *Row) cuts(rest, mark, server string) (all []named, err error) {
	if strings.HasPrefix(rest, "plugin_") {
		server = ""
	}
	for at := 1; at+len(mark) < len(rest); at++ {
		if rest[at:at+len(mark)] != mark {
			continue
		}
		n := named{rest[:at], rest[at+len(mark):], false}
		switch {
		case slices.Contains(r.Servers, n.server):
			return []named{n}, nil
		case server == "":
			all = append(all, n)
		case slices.Contains(r.written(server), n.server):
			return []named{{server, n.tool, false}}, nil
		}
	}
	switch {
	case len(all) == 0:
		return nil, fmt.Errorf("%q does not say of which server the tool is", short(rest))
	case len(all) > maxCuts:
		return nil, fmt.Errorf("%q can be cut into a server and its tool in more than %d ways", short(rest), maxCuts)
	}
	return all, nil
}

// maxCuts is more ways to cut a name than any tool on record has.
const maxCuts = 32

// Narrow keeps, of the ways to cut a tool's name, those whose server is one of these: the
// names that the client's files have. Where none is known, it keeps all.
func (req *Request) Narrow(servers []string) {
	if !req.cut {
		return
	}
	var kept []int
	var names []string
	for i := range req.Calls {
		for _, s := range servers {
			if slices.Contains(req.Row.written(s), req.Calls[i].Server) {
				kept, names = append(kept, i), append(names, s)
			}
		}
	}
	if len(kept) == 0 {
		return
	}
	calls := req.Calls
	req.Calls = nil
	for i, k := range kept {
		c := calls[k]
		c.Server = names[i]
		req.Calls = append(req.Calls, c)
	}
}

// Cut reports whether the name of a server's tool can be cut in more than one way.
func (req *Request) Cut() bool { return req.cut }

// written is a server's name as the client writes it into that of a tool.
func (r *Row) written(server string) []string {
	plain := worded(server)
	if r.MCP != underscored {
		return []string{server, plain}
	}
	low := strings.ToLower(plain)
	return []string{server, plain, low, low[:min(len(low), shortServer)]}
}

// shortServer is as much of a server's name as VS Code puts before a tool's: 18 characters
// with mcp_ and the _ behind it.
const shortServer = 18 - len("mcp_") - 1

// worded is a server's name as Claude Code writes it into that of a tool.
func worded(server string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
			return c
		}
		return '_'
	}, server)
}

// serverArguments are those that stand among a client's own: an object, or JSON as a text.
func serverArguments(input []byte) ([]byte, error) {
	if input == nil {
		return nil, errors.New("it has no arguments that can be read")
	}
	return object{jsonscan.Of(input)}.input([]string{"mcp_tool_arguments", "Arguments", "arguments", "tool_input", "toolInput", "input", "args"})
}
