package client

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy"
)

// named is the tool of a server. wraps says that its arguments stand among those of a tool
// of the client's own that calls it; spelled, that the server's name was cut out of the
// tool's, where a client writes some characters as others.
type named struct {
	server, tool   string
	wraps, spelled bool
}

var errNoServer = errors.New("it does not say of which server the tool is")

// splitTool gives the server's tools that a name may mean: none when the client brings the tool
// along, several where the name can be cut in more than one way.
func (r *Row) splitTool(root object, tool string, input []byte, e Event) ([]named, error) {
	server, _, err := root.readText(r.MCPServer)
	if err != nil {
		return nil, err
	}
	own, _, err := root.readText(r.MCPTool)
	if err != nil {
		return nil, err
	}
	if r.MCP == apart && e.Tool == "" {
		if server == "" || own == "" {
			return nil, missingError([]string{"the server, or its tool,"}, nil)
		}
		return []named{{server: server, tool: own, wraps: true}}, nil
	}
	if builtin.FindTool(r.ID, tool).Class != "" {
		return nil, nil
	}
	if slices.Contains(callers, tool) {
		return parseCalledTool(input)
	}
	if rest, found := strings.CutPrefix(tool, "mcp__"); found && r.MCP != single {
		return r.cutToolName(rest, "__", server)
	}
	switch r.MCP {
	case single:
		switch {
		case server != "" && own != "":
			return []named{{server: server, tool: own}}, nil
		case server != "", own != "", strings.HasPrefix(tool, "mcp_"):
			return nil, errNoServer
		}
	case colon:
		if rest, found := strings.CutPrefix(tool, "MCP:"); found {
			return []named{{tool: rest}}, nil
		}
		if e.Name == "beforeMCPExecution" {
			return []named{{tool: tool}}, nil
		}
	case slashed:
		if rest, found := strings.CutPrefix(tool, "@"); found {
			server, own, found := strings.Cut(rest, "/")
			if !found || server == "" || own == "" {
				return nil, errNoServer
			}
			return []named{{server: server, tool: own}}, nil
		}
	case extension:
		if strings.Contains(tool, "__") {
			return r.cutToolName(tool, "__", "")
		}
	case dashed:
		if strings.Contains(tool, "-") {
			return r.cutToolName(tool, "-", "")
		}
	case underscored:
		if rest, found := strings.CutPrefix(tool, "mcp_"); found {
			return r.cutToolName(rest, "_", server)
		}
	}
	return nil, nil
}

// callers are tools of clients that call a server's tool, which their arguments name.
var callers = []string{"call_mcp_tool", "use_mcp_tool", "mcp_call_tool", "use_tool"}

// parseCalledTool gives the server's tool that the arguments of such a tool name.
func parseCalledTool(input []byte) ([]named, error) {
	if input == nil {
		return nil, errNoServer
	}
	args := object{jsonscan.ValueOf(input)}
	server, _, err := args.readText([]string{"ServerName", "server_name", "serverName", "server"})
	if err != nil {
		return nil, err
	}
	tool, _, err := args.readText([]string{"ToolName", "tool_name", "toolName", "tool", "name"})
	switch {
	case err != nil || tool == "":
		return nil, missingError([]string{"the server's tool"}, err)
	case server != "":
		return []named{{server: server, tool: tool, wraps: true}}, nil
	}
	all, err := (&Row{}).cutToolName(strings.TrimPrefix(tool, "mcp__"), "__", "")
	for i := range all {
		all[i].wraps = true
	}
	return all, err
}

// cutToolName takes SERVER__TOOL apart, wherever that can be done; server is the name that the
// client gives beside it, with other characters perhaps, or "" when it gives none. The server of a
// plugin keeps the prefix that tells it from one of the owner's with the same name.
func (r *Row) cutToolName(rest, mark, server string) (all []named, err error) {
	if strings.HasPrefix(rest, "plugin_") {
		server = ""
	}
	for at := 1; at+len(mark) < len(rest); at++ {
		if rest[at:at+len(mark)] != mark {
			continue
		}
		n := named{server: rest[:at], tool: rest[at+len(mark):], spelled: true}
		switch {
		case slices.Contains(r.Servers, n.server):
			n.spelled = false
			return []named{n}, nil
		case server == "":
			all = append(all, n)
		case slices.Contains(r.spellServer(server), n.server):
			return []named{{server: server, tool: n.tool}}, nil
		}
	}
	switch {
	case len(all) == 0:
		return nil, fmt.Errorf("%q does not say of which server the tool is", shortenText(rest))
	case len(all) > maxCuts:
		return nil, fmt.Errorf("%q can be cut into a server and its tool in more than %d ways", shortenText(rest), maxCuts)
	}
	return all, nil
}

// maxCuts is more ways to cut a name than any tool on record has.
const maxCuts = 32

// NarrowServers gives the calls the names that the owner's files have for their servers, and
// keeps, of the ways to cut a tool's name, those whose server is one of these. Where none
// is known, it keeps all. Those that others may have named join them: a rule about such a
// server that denies or asks holds, and one that allows does not suffice.
func (req *Request) NarrowServers(owners, others []string) {
	if !req.spelled {
		return
	}
	same := func(written, name string) bool { return written == name }
	calls := req.Calls
	more := req.renameServers(others, same)
	if known := req.renameServers(owners, same); len(known) > 0 {
		calls = known
	} else if req.Row.MCP == underscored {
		more = append(more, req.renameServers(slices.Concat(owners, others), isNumbered)...) // it may be another's as well
	}
	req.Calls = append(slices.Clone(calls), more...)
}

// renameServers gives the calls whose server is written as one of the client's files may be, under
// the name that it has there.
func (req *Request) renameServers(servers []string, same func(written, name string) bool) (calls []policy.Call) {
	for _, c := range req.Calls {
		for _, s := range servers {
			if slices.ContainsFunc(req.Row.spellServer(s), func(name string) bool { return same(c.Server, name) }) {
				one := c
				one.Server = s
				calls = append(calls, one)
			}
		}
	}
	return calls
}

// isNumbered reports whether a name is written with a number behind it, as VS Code tells
// servers apart that it would write alike. A long name gives way to the number.
func isNumbered(written, name string) bool {
	base := strings.TrimRight(written, "0123456789")
	return base != "" && base != written && (name == base || len(written) == shortServer && strings.HasPrefix(name, base))
}

// HasSpelledServer reports whether the server's name was cut out of the tool's: what the client's
// files call it is not known yet.
func (req *Request) HasSpelledServer() bool { return req.spelled }

// IsCertain reports whether the call's server is called so in the client's files, whatever
// stands in them: its name was not cut out of the tool's, or can be cut in one way alone and
// holds nothing that the client writes for other characters.
func (req *Request) IsCertain() bool {
	if !req.spelled {
		return true
	}
	exact := req.Row.MCP != underscored && req.Row.ID != "goose"
	return exact && len(req.Calls) == 1 && !strings.Contains(req.Calls[0].Server, "_")
}

// spellServer gives a server's name as the client writes it into that of a tool.
func (r *Row) spellServer(server string) []string {
	plain := sanitizeName(server)
	switch {
	case r.ID == "codex": // it knows no hyphen either
		return []string{server, plain, strings.ReplaceAll(plain, "-", "_")}
	case r.ID == "goose":
		key := strings.ToLower(strings.Join(strings.Fields(server), ""))
		return []string{server, plain, key, sanitizeName(key)}
	case r.MCP != underscored:
		return []string{server, plain}
	}
	low, short := strings.ToLower(plain), shortenName(server)
	return []string{server, plain, low, low[:min(len(low), shortServer)], short, strings.ReplaceAll(short, ".", "_")}
}

// shortenName gives a server's name as VS Code writes it: in small letters, one _ for every run
// of other characters, and cut short.
func shortenName(server string) string {
	var out strings.Builder
	run := false
	for _, c := range strings.ToLower(server) {
		plain := c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-'
		switch {
		case plain:
			out.WriteRune(c)
		case !run:
			out.WriteByte('_')
		}
		run = !plain
	}
	name := out.String()
	return name[:min(len(name), shortServer)]
}

// shortServer is as much of a server's name as VS Code puts before a tool's: 18 characters
// with mcp_ and the _ behind it.
const shortServer = 18 - len("mcp_") - 1

// sanitizeName gives a server's name as Claude Code writes it into that of a tool.
func sanitizeName(server string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
			return c
		}
		return '_'
	}, server)
}

// serverArguments gives those that stand among a client's own: an object, or JSON as a text.
func serverArguments(input []byte) ([]byte, error) {
	if input == nil {
		return nil, errors.New("it has no arguments that can be read")
	}
	return object{jsonscan.ValueOf(input)}.readInput([]string{"mcp_tool_arguments", "Arguments", "arguments", "tool_input", "toolInput", "input", "args"})
}
