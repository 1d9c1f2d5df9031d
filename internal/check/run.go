package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where"
)

// Result is what the policy says of one fixture.
type Result struct {
	Path     string
	Action   policy.Action
	Rule     *policy.Rule // nil when none matched
	Refused  bool         // the frame would not even reach the rules
	Reason   string       // why, when no rule says it
	Reading  string       // the reading that decided, when not the value as sent
	Expected *policy.Action
	Err      error // the fixture could not be read; Action is deny

	// Finds are the kinds that were found in what came back, and Alters what rules change
	// of it.
	Finds  []string
	Alters []policy.Alteration
	// Received is what the client gets of what came back, as JSON: of what is asked about,
	// once it is released. Nil where it gets nothing, and where that is not known because
	// the fixture only says what is found.
	Received []byte
	other    bool // than what is expected

	// Undecided are the conditions that a rule in reach may or may not meet,
	// because the time or the disk is not known.
	Undecided []string
}

// IsMismatch reports whether the answer differs from the expected one.
func (r Result) IsMismatch() bool {
	return r.Err == nil && r.Expected != nil && (*r.Expected != r.Action || r.other)
}

// DescribeMismatch says what is expected in the place of what there is, of a mismatch.
func (r Result) DescribeMismatch() string {
	if *r.Expected != r.Action {
		return "expected " + r.Expected.String()
	}
	return "the client gets " + shortenJSON(r.Received) + ", and that is not the expected_result"
}

// maxShown is how many bytes of a result a line shows.
const maxShown = 2000

// shortenJSON gives JSON as plain ASCII: nothing in it does anything to a terminal.
func shortenJSON(object []byte) string {
	var b strings.Builder
	for _, r := range string(object) {
		switch {
		case b.Len() > maxShown:
			return b.String() + "..."
		case r < 0x80:
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		}
	}
	return b.String()
}

const ungoverned = "no rule governs this method; it is passed on and recorded"

// JudgeFixture runs one fixture through the frame reader, the method table and the
// policy, the way the proxy would. server stands in where the fixture names
// none.
func JudgeFixture(p *policy.Policy, fx Fixture, server string) Result {
	result := Result{Path: fx.Path, Expected: fx.Expected}
	if fx.JudgedMessage() != policy.OnCall {
		return judgeReply(p, fx, server)
	}
	calls, err := fx.ReadCalls(server)
	if err != nil {
		result.Refused, result.Reason = true, fmt.Sprintf("refused before the rules: %v", err)
		return result
	}
	if len(calls) == 0 {
		result.Action, result.Reason = policy.Allow, ungoverned
		return result
	}
	fx.ScreenCalls(p, calls)
	d := p.DecideAll(calls)
	if p.DependsOnHints() || p.AsksDisk() {
		result.Undecided = listUndecided(p, calls)
	}
	result.Action, result.Rule, result.Reason, result.Reading, result.Alters = d.Action, d.Rule, d.Reason, d.Reading, d.Alters
	if d.Rule == nil && d.Reason == "" {
		result.Reason = "no rule matches"
		if d.Action == policy.Allow {
			result.Reason = ungoverned
		}
	}
	return result
}

// listUndecided lists what the disk, the time and other such things would have told.
func listUndecided(p *policy.Policy, calls []policy.Call) (all []string) {
	for i := range calls {
		trace := p.Trace(&calls[i])
		for _, s := range trace.Steps {
			if !s.Reached || s.Match != where.Maybe {
				continue
			}
			what := ""
			switch at := s.At; {
			case at.Kind == policy.CallCondition && at.Got == "":
				if k, _ := policy.CallKeyOf(at.Key); k.Hint != "" {
					what = at.Key
				}
			case at.Kind == policy.Constraint && strings.HasPrefix(at.Want[0], "under = "):
				what = "under"
			}
			if what != "" && !slices.Contains(all, what) {
				all = append(all, what)
			}
		}
	}
	return all
}

// ReadCalls gives what the rules judge in a fixture, read as the proxy would read them;
// none when no rule governs its method. The error says why the frame would be
// refused before the rules.
func (fx Fixture) ReadCalls(server string) ([]policy.Call, error) {
	if fx.Server != "" {
		server = fx.Server
	}
	asked := fx
	if fx.Method == builtin.Method { // as its arguments are a tool's, it is read as one
		asked.Method = "tools/call"
	}
	calls, err := ReadCalls(asked.BuildRequest(1), server)
	if fx.Method == builtin.Method {
		asBuiltin(calls)
	}
	for i := range calls {
		calls[i].Facts = fx.Facts
	}
	return calls, err
}

// asBuiltin makes of the calls of tools those of the tools that a client, their server,
// brings along.
func asBuiltin(calls []policy.Call) {
	for i := range calls {
		c := &calls[i]
		c.Method = builtin.Method
		if args, err := builtin.CompleteArguments(c.Server, c.Names[0], c.Args); err != nil {
			c.Malformed = err.Error()
		} else {
			c.Args = args
		}
	}
}

// ReadCalls gives Fixture.ReadCalls for a JSON-RPC message as bytes, sent by the side that
// may send its method.
func ReadCalls(request []byte, server string) ([]policy.Call, error) {
	f, err := frame.Parse(request, frame.DefaultLimits())
	if err != nil {
		return nil, err
	}
	calls, refusal := callsOf(&f, senderOf(f.Method), server)
	if refusal != nil {
		return nil, refusal
	}
	return calls, nil
}

// callsOf gives what the rules judge in a request. A retry's inputResponses are
// judged by their own texts, for a fixture has no earlier request to remember.
func callsOf(f *frame.Frame, from mcp.Direction, server string) ([]policy.Call, *frame.Refusal) {
	m, refusal := mcp.Read(f, from, server)
	if refusal != nil {
		return nil, refusal
	}
	var nothing mcp.Asked
	answers, refusal := nothing.AnswerCalls(f, &m, server)
	return append(m.Calls, answers...), refusal
}

// FromServer reports a request that servers send to clients.
func (fx Fixture) FromServer() bool { return senderOf(fx.Method) == mcp.ServerToClient }

// senderOf gives the side that may send the method; the client where both may, or
// where the method is of no version.
func senderOf(method string) mcp.Direction {
	for _, m := range mcp.Methods() {
		if m.Name == method && m.From == mcp.ServerToClient {
			return mcp.ServerToClient
		}
	}
	return mcp.ClientToServer
}

// BuildRequest gives the fixture as the JSON-RPC request a client or server would send.
func (fx Fixture) BuildRequest(id int) []byte {
	method, err := json.Marshal(fx.Method)
	if err != nil {
		panic(err) // a string always marshals
	}
	line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%s`, id, method)
	if fx.Params != nil {
		line = fmt.Appendf(line, `,"params":%s`, fx.Params)
	}
	return append(line, '}')
}
