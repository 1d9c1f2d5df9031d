package client

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf16"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy"
)

// Request is a parsed payload with its client, its event and its calls.
type Request struct {
	Row     *Row   // row of the client that wrote the payload, perhaps not of the registered client
	Agent   string // ID of Row; "" if only the tool's name decided which row fits
	Event   Event
	Session string // id that the client gives its session
	Call    string // id that the client gives the call
	Cwd     string
	Loose   bool   // the tool may resolve relative paths from another folder than Cwd
	Mode    string // the client's permission mode; "" if the payload has none
	Said    string // the user's words in a Prompt event; "" if none were found
	Cleared bool   // the session begins because the user cleared the earlier one
	Newer   string // a warning that the client is newer than its row; "" if it is not, or if its version is unknown

	// Calls are the calls that the rules judge; the strictest decision wins. There are several if
	// the tool's name can be split in several ways. MCP means that the calls are for a server's
	// tool.
	Calls []policy.Call
	MCP   bool
	// spelled means that the server's name was cut out of the tool's name. guessed means that the
	// tool's name may also be the name of a tool without a server. folded means that the client
	// ignores the case of letters in the tool's name.
	spelled, guessed, folded bool
}

// Limit is the maximum size of a payload in bytes.
const Limit = 32 << 20

// Read parses a payload strictly: an ambiguous or incomplete payload is an error. The error text is
// for the agent. registered is the event in the command line, for clients whose payloads name no
// event. It is "" if the command line has none.
func (r *Row) Read(payload []byte, registered string) (req Request, err error) {
	req.Row = r
	if len(payload) > Limit {
		return req, fmt.Errorf("it is longer than %d MiB", Limit>>20)
	}
	root, err := parsePayload(stripByteOrderMark(payload))
	if err != nil {
		return req, err
	}
	req.Newer = r.compareVersion(root)
	row, event, sure, err := r.recognizeRow(root.topMembers(), registered)
	if err != nil {
		return req, err
	}
	req.Row, req.Event, req.Newer = row, *event, row.compareVersion(root)
	if sure {
		req.Agent = row.ID
	}
	if err := row.readEnvelope(root, &req); err != nil || event.Kind != Before {
		return req, err
	}
	return req, row.readCalls(root, &req)
}

// stripByteOrderMark returns a payload as UTF-8 without the byte order mark that shells of Windows
// write.
func stripByteOrderMark(payload []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(payload, []byte("\xef\xbb\xbf")):
		return payload[3:]
	case bytes.HasPrefix(payload, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(payload, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		return payload
	}
	if len(payload)%2 != 0 {
		return payload // no byte order mark is left; if the payload is not UTF-8, parsing fails later
	}
	var units []uint16
	for at := 2; at < len(payload); at += 2 {
		units = append(units, order.Uint16(payload[at:]))
	}
	return []byte(string(utf16.Decode(units)))
}

// readEnvelope reads the members of the payload, except the tool and its arguments.
func (r *Row) readEnvelope(root object, req *Request) (err error) {
	var there bool
	if req.Session, there, err = root.readText(r.Session); err != nil || r.NeedSession && (!there || req.Session == "") {
		return missingError(r.Session, err)
	}
	if req.Event.Kind == Prompt && !root.isSubagent() {
		req.Said = root.textAt([]string{"submitted_prompt", "prompt", "tool_info.user_prompt", "userPromptSubmit.prompt"})
	}
	if req.Event.Kind == Session && len(r.Begun) > 0 {
		source, _, _ := root.readText(r.Begun)
		req.Cleared = source == "clear"
	}
	if req.Event.Kind != Before {
		return nil
	}
	if req.Call, there, err = root.readText(r.Call); err != nil || r.NeedCall && (!there || req.Call == "") {
		return missingError(r.Call, err)
	}
	if req.Mode, _, err = root.readText([]string{"permission_mode", "permissionMode"}); err != nil {
		return err
	}
	if req.Cwd, err = root.readFolder(r.Cwd); err != nil {
		return err
	}
	if req.Cwd != "" && !policy.IsFolder(filepath.ToSlash(req.Cwd)) {
		return errors.New("its folder is not an absolute path")
	}
	req.Loose = r.Chosen || len(r.Roots) > 0 && !root.hasFolderAbove(r.Roots, req.Cwd)
	return nil
}

// readCalls reads the tool and its arguments.
func (r *Row) readCalls(root object, req *Request) error {
	tool := req.Event.Tool
	if tool == "" && len(r.Tool) > 0 {
		var there bool
		var err error
		if tool, there, err = root.readText(r.Tool); err != nil || !there || tool == "" {
			return missingError(r.Tool, err)
		}
	}
	input, err := r.readToolInput(root, tool)
	if err != nil {
		return err
	}
	if req.Event.Tool != "" && input == nil { // in Cursor's events for a single tool, the arguments are members of the event itself
		input = root.argumentsObject()
	}
	names, err := r.splitTool(root, tool, input, req.Event)
	if err != nil {
		return err
	}
	return r.nameCalls(req, names, tool, input)
}

// nameCalls sets the calls of a request. If names is empty, the only call is a call of a built-in
// tool. Otherwise there is one call for each server's tool in names.
func (r *Row) nameCalls(req *Request, names []serverTool, tool string, input []byte) (err error) {
	if len(names) == 0 {
		req.Calls, err = asCall(r.ID, tool, input)
		if err == nil {
			err = r.completeBuiltin(req)
		}
		return err
	}
	req.MCP = true
	for _, n := range names {
		req.spelled = req.spelled || n.spelled
		if n.wraps {
			if input, err = serverArguments(input); err != nil {
				return err
			}
		}
		one, err := asCall(n.server, n.tool, input)
		if err != nil {
			return err
		}
		if !n.wraps {
			for i := range one {
				one[i].Spelling = r.toolSpelling(tool)
			}
		}
		req.Calls = append(req.Calls, one...)
	}
	return nil
}

// toolSpelling returns how the client has changed the name of a server's tool. It concludes this
// from the length of the name.
func (r *Row) toolSpelling(tool string) policy.Spelling {
	switch {
	case r.NameLimit == 0 || len(tool) > r.NameLimit: // a name over the limit was not changed by the client
		return policy.AsWritten
	case len(tool) == r.NameLimit:
		return policy.Cut
	}
	return policy.Dotless
}

// readToolInput returns the arguments of the tool. If the tool takes a patch, the payload may have
// the patch as a string instead.
func (r *Row) readToolInput(root object, tool string) ([]byte, error) {
	if v := root.findValue(r.Input); v.Kind() == jsonscan.String && builtin.FindTool(r.ID, tool).TakesPatch() {
		if text := v.Text(); strings.HasPrefix(strings.TrimSpace(text), "***") {
			return append(escape.AppendEscaped([]byte(`{"`+builtin.PatchArgument+`":"`), text), `"}`...), nil
		}
	}
	return root.readInput(r.Input)
}

// completeBuiltin changes the call of req into a call of a built-in tool.
func (r *Row) completeBuiltin(req *Request) error {
	c := &req.Calls[0]
	if len(c.Names) == 0 {
		return nil // the call is malformed, so the rules deny it
	}
	c.Method, c.Cwd, c.Elsewhere = builtin.Method, filepath.ToSlash(req.Cwd), req.Loose
	if runtime.GOOS == policy.Windows { // clients run their tools on this system
		c.OS = policy.Windows
	}
	args, err := builtin.CompleteArguments(r.ID, c.Names[0], c.Args)
	if err != nil {
		c.Malformed = err.Error()
		return nil
	}
	c.Args = args
	return nil
}

// asCall returns the calls that the proxy would find in a tools/call request with this tool and
// these arguments.
func asCall(server, tool string, input []byte) ([]policy.Call, error) {
	line := escape.AppendEscaped([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`), tool)
	line = append(line, '"')
	if input != nil {
		line = append(append(line, `,"arguments":`...), input...)
	}
	f, err := frame.Parse(append(line, "}}"...), frame.DefaultLimits())
	if err != nil {
		return nil, err
	}
	m, refusal := mcp.Read(&f, mcp.ClientToServer, server)
	if refusal != nil {
		return nil, refusal
	}
	return m.Calls, nil
}

// parsePayload checks a payload as strictly as the proxy checks a frame.
func parsePayload(payload []byte) (object, error) {
	const before = `{"jsonrpc":"2.0","id":1,"method":"hook","params":`
	line := bytes.NewBuffer(append(make([]byte, 0, len(before)+len(payload)+1), before...))
	if err := json.Compact(line, payload); err != nil {
		return object{}, errors.New("it is not JSON")
	}
	said := line.Bytes()[len(before):]
	if len(said) == 0 || said[0] != '{' {
		return object{}, errors.New("it is not a JSON object")
	}
	line.WriteByte('}')
	if _, err := frame.Parse(line.Bytes(), frame.DefaultLimits()); err != nil {
		return object{}, err
	}
	return object{jsonscan.ValueOf(said)}, nil
}

func missingError(place []string, err error) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("%s is missing", strings.Join(place, " or "))
}

// shortenText returns the first 80 bytes of a client's text.
func shortenText(s string) string {
	if len(s) > 80 {
		s = strings.ToValidUTF8(s[:80], "") + "…"
	}
	return s
}
