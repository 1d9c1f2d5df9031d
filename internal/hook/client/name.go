package client

import (
	"errors"
	"fmt"
	"strings"

	"github.com/clawai/clawai/internal/builtin"
	"github.com/clawai/clawai/internal/jsonscan"
)

// named is the tool of a server.
type named struct{ server, tool string }

// split says of which server's tool a name is: none when the client brings it along,
// several where it can be cut in more than one way.
func (r *Row) split(root object, tool string, e Event) ([]named, error) {
	server, _, err := root.text(r.MCPServer)
	if err != nil {
		return nil, err
	}
	switch r.MCP {
	case doubled:
		if rest, found := strings.CutPrefix(tool, "mcp__"); found {
			return cuts(rest, server)
		}
	case single:
		own, _, err := root.text(r.MCPTool)
		switch {
		case err != nil:
			return nil, err
		case server != "" && own != "":
			return []named{{server, own}}, nil
		case server != "", own != "", strings.HasPrefix(tool, "mcp_"):
			return nil, errors.New("it does not say of which server the tool is")
		}
	case colon:
		if rest, found := strings.CutPrefix(tool, "MCP:"); found {
			return []named{{"", rest}}, nil
		}
		if e.Name == "beforeMCPExecution" {
			return []named{{"", tool}}, nil
		}
	case slashed:
		if rest, found := strings.CutPrefix(tool, "@"); found {
			server, own, found := strings.Cut(rest, "/")
			if !found || server == "" || own == "" {
				return nil, errors.New("it does not say of which server the tool is")
			}
			return []named{{server, own}}, nil
		}
	case extension:
		if builtin.Of(r.ID, tool).Class == "" && strings.Contains(tool, "__") {
			return cuts(tool, "")
		}
	case apart:
		if tool == "use_mcp_tool" || tool == "" && e.Tool == "" {
			own, _, err := root.text(r.MCPTool)
			if err != nil || server == "" || own == "" {
				return nil, missing([]string{"the server, or its tool,"}, err)
			}
			return []named{{server, own}}, nil
		}
	case noMCP:
	}
	return nil, nil
}

// cuts takes SERVER__TOOL apart, wherever that can be done; server is what the client
// calls it, with other characters perhaps, or "" when it does not say. The server of a
// plugin keeps the prefix that tells it from one of the owner's with the same name.
func cuts(rest, server string) (all []named, err error) {
	if strings.HasPrefix(rest, "plugin_") {
		server = ""
	}
	for at := 1; at+2 < len(rest); at++ {
		if rest[at:at+2] != "__" {
			continue
		}
		if server == "" {
			all = append(all, named{rest[:at], rest[at+2:]})
		} else if rest[:at] == worded(server) {
			return []named{{server, rest[at+2:]}}, nil
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%q does not say of which server the tool is", short(rest))
	}
	return all, nil
}

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
	return object{jsonscan.Of(input)}.input([]string{"mcp_tool_arguments", "arguments"})
}
