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

// Result is the answer of the policy to one fixture.
type Result struct {
	Path     string
	Action   policy.Action
	Rule     *policy.Rule   // the rule that decides; nil if no rule does
	Refused  bool           // the proxy would refuse the message before the rules
	Reason   string         // why the answer was given, if the rule does not tell it; may be ""
	Reading  string         // the reading of a value that decided the answer; "" if it was the value as sent
	Expected *policy.Action // nil if the fixture expects no answer
	Err      error          // why the fixture cannot be read, in which case Action is deny; otherwise nil

	// Finds are the kinds of findings in the reply or list entry. Alters are the alterations that
	// the rules require.
	Finds  []string
	Alters []policy.Alteration
	// Received is what the client gets of the reply, as JSON. If a person must release the reply,
	// it is the reply after the release. It is nil if the client gets nothing, or if the fixture
	// states the findings itself.
	Received        []byte
	receivedDiffers bool // Received is not the fixture's ExpectedResult

	// Undecided lists conditions of reached rules that cannot be decided, because the time or the
	// disk is unknown. Only ReportFixture fills it.
	Undecided []string
}

// IsMismatch reports whether the answer, or the result for the client, differs from what the
// fixture expects.
func (r Result) IsMismatch() bool {
	return r.Err == nil && r.Expected != nil && (*r.Expected != r.Action || r.receivedDiffers)
}

// DescribeMismatch returns the expected action; if only the result differs, it returns the result
// that the client gets.
func (r Result) DescribeMismatch() string {
	if *r.Expected != r.Action {
		return "expected " + r.Expected.String()
	}
	return "the client gets " + shortenJSON(r.Received) + ", and that is not the expected_result"
}

// maxShown is the maximum number of bytes of a result in one line.
const maxShown = 2000

// shortenJSON returns JSON as plain ASCII, which is safe for a terminal, and cuts a long text.
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

// JudgeFixture gives a fixture to the frame reader, the method table and the policy, as the proxy
// does with a message. server is the name of the server if the fixture has none.
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
	result.Action, result.Rule, result.Reason, result.Reading, result.Alters = d.Action, d.Rule, d.Reason, d.Reading, d.Alters
	if d.Rule == nil && d.Reason == "" {
		result.Reason = "no rule matches"
		if d.Action == policy.Allow {
			result.Reason = ungoverned
		}
	}
	return result
}

// ReportFixture judges a fixture like JudgeFixture, and also lists the undecided conditions, for a
// report. To find them takes a trace, which costs far more than the answer.
func ReportFixture(p *policy.Policy, fx Fixture, server string) Result {
	result := JudgeFixture(p, fx, server)
	if fx.JudgedMessage() != policy.OnCall || result.Refused || !p.DependsOnHints() && !p.AsksDisk() {
		return result
	}
	if calls, err := fx.ReadCalls(server); err == nil {
		fx.ScreenCalls(p, calls)
		result.Undecided = listUndecided(p, calls)
	}
	return result
}

// listUndecided lists conditions of reached rules that cannot be decided, because they depend on
// the disk or on a fact that the fixture does not state.
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

// ReadCalls returns the calls in the fixture's request, read as in the proxy. It returns only calls
// that rules can judge, so it returns no calls if no rule can be about the method. The error tells
// why the proxy would refuse the request before the rules.
func (fx Fixture) ReadCalls(server string) ([]policy.Call, error) {
	if fx.Server != "" {
		server = fx.Server
	}
	asked := fx
	if fx.Method == builtin.Method { // the parameters have the form of a tool call
		asked.Method = "tools/call"
	}
	calls, err := ReadCalls(asked.BuildRequest(1), server)
	if fx.Method == builtin.Method {
		convertToBuiltin(calls)
	}
	for i := range calls {
		calls[i].Facts = fx.Facts
	}
	return calls, err
}

// convertToBuiltin makes calls of a client's built-in tools from tool calls. The server of such a
// call is the name of the client.
func convertToBuiltin(calls []policy.Call) {
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

// ReadCalls returns the calls in a JSON-RPC message, like Fixture.ReadCalls. It returns only calls
// that rules can judge. The method decides whether the client or the server is the sender.
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

// callsOf returns the calls in a request. It returns only calls that rules can judge. If the
// request is a retry with inputResponses, each response is judged only by its own texts, because
// the input request that it answers is unknown.
func callsOf(f *frame.Frame, sender mcp.Direction, server string) ([]policy.Call, *frame.Refusal) {
	m, refusal := mcp.Read(f, sender, server)
	if refusal != nil {
		return nil, refusal
	}
	var noRequests mcp.Asked
	answers, refusal := noRequests.AnswerCalls(f, &m, server)
	return append(m.Calls, answers...), refusal
}

// FromServer reports whether the request is one that servers send to clients.
func (fx Fixture) FromServer() bool { return senderOf(fx.Method) == mcp.ServerToClient }

// senderOf returns the side that sends the method: ServerToClient if only servers do, otherwise
// ClientToServer.
func senderOf(method string) mcp.Direction {
	for _, m := range mcp.Methods() {
		if m.Name == method && m.From == mcp.ServerToClient {
			return mcp.ServerToClient
		}
	}
	return mcp.ClientToServer
}

// BuildRequest returns the fixture as a JSON-RPC request.
func (fx Fixture) BuildRequest(id int) []byte {
	method, err := json.Marshal(fx.Method)
	if err != nil {
		panic(err) // cannot happen, because a string can always be encoded
	}
	line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%s`, id, method)
	if fx.Params != nil {
		line = fmt.Appendf(line, `,"params":%s`, fx.Params)
	}
	return append(line, '}')
}
