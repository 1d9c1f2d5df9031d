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

// serverTool is a tool of a server. wraps means that the agent has called a built-in tool, which
// calls the server tool. The arguments of the server tool are then inside the arguments of the
// built-in tool. spelled means that the server's name was taken from the tool's name, where the
// client may have replaced characters.
type serverTool struct {
	server, tool   string
	wraps, spelled bool
}

var errNoServer = errors.New("it does not say which server the tool belongs to")

// splitTool returns the server tools that a tool name may mean. It returns none for a built-in
// tool, and several if the name can be split in several ways.
func (r *Row) splitTool(root object, tool string, input []byte, e Event) ([]serverTool, error) {
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
		return []serverTool{{server: server, tool: own, wraps: true}}, nil
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
			return []serverTool{{server: server, tool: own}}, nil
		case server != "", own != "", strings.HasPrefix(tool, "mcp_"):
			return nil, errNoServer
		}
	case colon:
		if rest, found := strings.CutPrefix(tool, "MCP:"); found {
			return []serverTool{{tool: rest}}, nil
		}
		if e.Name == "beforeMCPExecution" {
			return []serverTool{{tool: tool}}, nil
		}
	case slashed:
		if rest, found := strings.CutPrefix(tool, "@"); found {
			server, own, found := strings.Cut(rest, "/")
			if !found || server == "" || own == "" {
				return nil, errNoServer
			}
			return []serverTool{{server: server, tool: own}}, nil
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

// callers are built-in tools that call a server's tool. Their arguments name that tool.
var callers = []string{"call_mcp_tool", "use_mcp_tool", "mcp_call_tool", "use_tool"}

// parseCalledTool reads the arguments of a tool in callers. It returns the server's tool that these
// arguments name.
func parseCalledTool(input []byte) ([]serverTool, error) {
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
		return []serverTool{{server: server, tool: tool, wraps: true}}, nil
	}
	all, err := (&Row{}).cutToolName(strings.TrimPrefix(tool, "mcp__"), "__", "")
	for i := range all {
		all[i].wraps = true
	}
	return all, err
}

// cutToolName splits the name SERVER__TOOL at every possible place. mark is the separator between
// the two names. server is the server's name from another member of the payload, or "". In the
// tool's name, the client may have replaced characters of the server's name. If the server belongs
// to a plugin, the server's name in the result keeps the plugin's prefix, because the name without
// the prefix may belong to another server of the owner.
func (r *Row) cutToolName(rest, mark, server string) (all []serverTool, err error) {
	if strings.HasPrefix(rest, "plugin_") {
		server = ""
	}
	for at := 1; at+len(mark) < len(rest); at++ {
		if rest[at:at+len(mark)] != mark {
			continue
		}
		n := serverTool{server: rest[:at], tool: rest[at+len(mark):], spelled: true}
		switch {
		case slices.Contains(r.Servers, n.server):
			n.spelled = false
			return []serverTool{n}, nil
		case server == "":
			all = append(all, n)
		case slices.Contains(r.spellServer(server), n.server):
			return []serverTool{{server: server, tool: n.tool}}, nil
		}
	}
	switch {
	case len(all) == 0:
		return nil, fmt.Errorf("%q does not say which server the tool belongs to", shortenText(rest))
	case len(all) > maxCuts:
		return nil, fmt.Errorf("%q can be cut into a server and its tool in more than %d ways", shortenText(rest), maxCuts)
	}
	return all, nil
}

// maxCuts is the maximum number of ways to split a name. No known tool reaches it.
const maxCuts = 32

// NarrowServers replaces the server names in the calls by the names in the owner's files (owners).
// It removes the other splits of a tool's name, unless no split matches. It also adds the splits
// for servers in files that an agent can write (others): such a split can lead to a denial or a
// question, but a rule that allows it does not suffice.
//
// If the name may also be a tool without a server (guessed), the files decide. If no file has a
// matching server, only the call of the tool without a server stays.
func (req *Request) NarrowServers(owners, others []string) {
	if !req.spelled {
		return
	}
	same := func(written, name string) bool { return written == name }
	if req.folded {
		same = strings.EqualFold
	}
	calls := req.Calls
	if req.guessed {
		calls = slices.DeleteFunc(slices.Clone(calls), func(c policy.Call) bool { return c.Server != req.Row.ID })
	}
	more := req.renameServers(others, same)
	if known := req.renameServers(owners, same); len(known) > 0 {
		calls = known
	} else if req.Row.MCP == underscored {
		more = append(more, req.renameServers(slices.Concat(owners, others), isNumbered)...) // the tool may also belong to a server whose name has another number at its end
	}
	req.Calls = append(slices.Clone(calls), more...)
	if req.guessed && len(req.Calls) > 0 && !slices.ContainsFunc(req.Calls, func(c policy.Call) bool { return c.Server != req.Row.ID }) {
		req.MCP, req.spelled = false, false
	}
}

// renameServers looks for calls whose server name the client may have made from a name in servers.
// It returns these calls with the name from servers.
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

// isNumbered reports whether written is name with a number at its end. VS Code adds such a number
// if two servers have the same written name. It shortens a long name to make room for the number.
func isNumbered(written, name string) bool {
	base := strings.TrimRight(written, "0123456789")
	return base != "" && base != written && (name == base || len(written) == shortServer && strings.HasPrefix(name, base))
}

// HasSpelledServer reports whether the server's name was cut out of the tool's name. Then its name
// in the client's files is not known yet.
func (req *Request) HasSpelledServer() bool { return req.spelled }

// IsCertain reports whether the server's name in the call is surely its name in the client's files.
// This is so if the name was not cut out of the tool's name. It is also so if the tool's name can
// be cut in only one way and the server's name has no "_", because "_" may replace another
// character.
func (req *Request) IsCertain() bool {
	if !req.spelled {
		return true
	}
	exact := req.Row.MCP != underscored && req.Row.ID != "goose"
	return exact && len(req.Calls) == 1 && !strings.Contains(req.Calls[0].Server, "_")
}

// spellServer returns the forms of a server's name that the client may use in a tool's name.
func (r *Row) spellServer(server string) []string {
	plain := sanitizeName(server)
	switch {
	case r.ID == "codex": // Codex also replaces hyphens
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

// shortenName returns a server's name in VS Code's form: in lower case, shortened, and with one _
// for each run of other characters.
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

// shortServer is the maximum number of characters of a server's name in a tool's name of VS Code.
// VS Code allows 18 characters including mcp_ and the final _.
const shortServer = 18 - len("mcp_") - 1

// sanitizeName returns a server's name in the form of Claude Code's tool names.
func sanitizeName(server string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
			return c
		}
		return '_'
	}, server)
}

// serverArguments returns the arguments of a server's tool from the arguments of a built-in tool.
// They are an object, or JSON in a string.
func serverArguments(input []byte) ([]byte, error) {
	if input == nil {
		return nil, errors.New("it has no arguments that can be read")
	}
	return object{jsonscan.ValueOf(input)}.readInput([]string{"mcp_tool_arguments", "Arguments", "arguments", "tool_input", "toolInput", "input", "args"})
}
