package client

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"

	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy"
)

// modelHabits tells how a client changes a call of its model before a hook sees the call. The zero
// value means that the client changes nothing.
type modelHabits struct {
	// folds means that the client ignores the case of letters when it looks up a tool by its name.
	folds bool
	// bare means that the client names a server's tool SERVER_TOOL for the model. Its hook gets the
	// names of the server and the tool separately.
	bare bool
	// decodes means that the client replaces \uXXXX in the texts of the arguments by the character
	// that it stands for.
	decodes bool
	// bridge is the name of a built-in tool that calls another tool. The bridge's arguments "name"
	// and "arguments" describe the other tool. The case of letters in "name" does not matter. The
	// hook sees the call of the other tool.
	bridge string
}

// ModelCall is a tool call in the form in which a client's model asks for it.
type ModelCall struct {
	Session, ID string
	Tool        string
	Args        []byte // the arguments as JSON; nil if there are none
	Text        string // the argument of a tool that takes a plain text instead of JSON
	Free        bool   // the argument is in Text, not in Args
	Cwd         string
}

// ReadModelCall returns the request that a client's hook would get for a call of the client's
// model. If the client may understand the call in several ways, the request has one call for each
// way.
func (r *Row) ReadModelCall(m ModelCall) (req Request, err error) {
	req = Request{Row: r, Event: Event{Name: "model", Kind: Before}, Session: m.Session, Call: m.ID, Cwd: m.Cwd}
	tool, input := m.Tool, m.Args
	if m.Free {
		name := "input"
		if builtin.FindTool(r.ID, m.Tool).TakesPatch() {
			name = builtin.PatchArgument
		}
		input = append(escape.AppendEscaped(append(append([]byte(`{"`), name...), `":"`...), m.Text), `"}`...)
	}
	if input != nil {
		args, err := parsePayload(input)
		if err != nil {
			return req, err
		}
		input = args.Bytes()
	}
	if r.Model.bridge != "" && tool == r.Model.bridge {
		if tool, input, err = readBridged(input); err != nil {
			return req, err
		}
		req.folded = true
	}
	if tool == "" {
		return req, errors.New("the tool has no name")
	}
	if len(tool) > maxToolName {
		return req, errors.New("the name of the tool is longer than a tool's")
	}
	if tool != strings.TrimFunc(tool, isBlank) { // no tool has such a name, but some clients remove the blanks
		return req, errors.New("the name of the tool begins or ends with a blank")
	}
	req.folded = req.folded || r.Model.folds && strings.ToLower(tool) != tool
	if req.folded {
		if tool, err = r.foldName(tool); err != nil {
			return req, err
		}
	}
	if err := r.readModelNames(&req, tool, input); err != nil {
		return req, err
	}
	if decoded := decodeEscapes(input); r.Model.decodes && decoded != nil {
		err = r.readModelNames(&req, tool, decoded)
	}
	return req, err
}

// foldName returns clawai's name of a tool, for a client that ignores the case of letters. The name
// of a built-in tool is in lower case. Any other name stays as the model has written it.
func (r *Row) foldName(tool string) (string, error) {
	if strings.ContainsFunc(tool, func(c rune) bool { return c > unicode.MaxASCII }) { // a client may treat such a character as an ASCII letter in another case
		return "", errors.New("the name of the tool has a character that is not ASCII")
	}
	low := strings.ToLower(tool)
	if builtin.FindTool(r.ID, tool).Class == "" && builtin.FindTool(r.ID, low).Class != "" {
		return low, nil
	}
	if begin := "mcp__"; strings.HasPrefix(low, begin) {
		tool = begin + tool[len(begin):]
	}
	return tool, nil
}

// maxToolName is the maximum length in bytes of a tool's name. Services refuse longer names, and
// Claude Code cuts them.
const maxToolName = 200

// isBlank reports whether a client may remove this character from the start or the end of a name.
func isBlank(c rune) bool { return unicode.IsSpace(c) || c == '\ufeff' }

// readModelNames adds to req one call for each tool that the model may mean by a name.
func (r *Row) readModelNames(req *Request, tool string, input []byte) (err error) {
	known := builtin.FindTool(r.ID, tool).Class != ""
	rest, joined := strings.CutPrefix(tool, "mcp_")
	var names []serverTool
	switch {
	case r.Model.bare && !known && strings.Contains(strings.Trim(tool, "_"), "_"):
		names, err = r.cutToolName(tool, "_", "")
	case r.MCP == single && !r.Model.bare && joined && !known: // the client gives its hook the names of the server and the tool separately
		names, err = r.cutToolName(rest, "_", "")
	default:
		names, err = r.splitTool(object{}, tool, input, req.Event)
	}
	if err != nil {
		return err
	}
	one := *req
	one.Calls = nil
	if r.Model.bare && len(names) > 0 {
		req.guessed = true
		if err := r.nameCalls(&one, nil, tool, input); err != nil {
			return err
		}
		req.Calls = append(req.Calls, one.Calls...)
		one.Calls = nil
	}
	if err := r.nameCalls(&one, names, tool, input); err != nil {
		return err
	}
	for i := range one.Calls {
		if req.folded {
			one.Calls[i].Spelling = policy.Folded
		}
	}
	req.Calls, req.MCP, req.spelled = append(req.Calls, one.Calls...), one.MCP, req.spelled || one.spelled
	return nil
}

// readBridged returns the tool that a bridge calls, and the arguments of this tool.
func readBridged(input []byte) (tool string, args []byte, err error) {
	root := object{jsonscan.ValueOf(input)}
	tool, _, err = root.readText([]string{"name"})
	if err != nil || strings.TrimSpace(tool) == "" {
		return "", nil, missingError([]string{"the name of the tool that it calls"}, err)
	}
	args, err = root.readInput([]string{"arguments"})
	return strings.TrimFunc(tool, isBlank), args, err
}

// writtenEscape matches a \uXXXX that a model has written into a text as six characters. It also
// matches two of them that form a surrogate pair.
var writtenEscape = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\\u[dD][89aAbB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}`)
})

// decodeEscapes replaces each \uXXXX in the texts of the arguments by the character that it stands
// for. It leaves the escape of a control character, and that of half a surrogate pair, as it is. It
// returns nil if nothing changes.
func decodeEscapes(input []byte) []byte {
	var edits []frame.Edit
	jsonscan.ValueOf(input).VisitLeaves(func(_ string, leaf jsonscan.Value) {
		if leaf.Kind() != jsonscan.String {
			return
		}
		text := leaf.Text()
		if now := decodeText(text); now != text {
			edits = append(edits, frame.Edit{Part: leaf.Bytes(), Token: escape.QuoteText(now)})
		}
	})
	if len(edits) == 0 {
		return nil
	}
	return frame.SpliceAll(input, edits...)
}

func decodeText(text string) string {
	var out strings.Builder
	done := 0
	for _, at := range writtenEscape().FindAllStringIndex(text, -1) {
		before := strings.TrimRight(text[:at[0]], `\`)
		if (at[0]-len(before))%2 != 0 { // the backslash itself is escaped
			continue
		}
		first, _ := strconv.ParseUint(text[at[0]+2:at[0]+6], 16, 32)
		c := rune(first)
		if at[1]-at[0] > len(`\uXXXX`) {
			second, _ := strconv.ParseUint(text[at[1]-4:at[1]], 16, 32)
			c = utf16.DecodeRune(c, rune(second))
		}
		if utf16.IsSurrogate(c) || unicode.IsControl(c) {
			continue
		}
		out.WriteString(text[done:at[0]])
		out.WriteRune(c)
		done = at[1]
	}
	out.WriteString(text[done:])
	return out.String()
}
