package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/frame"
	"github.com/clawai/clawai/proxy/mcp"
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

	// Undecided are the conditions that a rule in reach may or may not meet,
	// because the time or the disk is not known.
	Undecided []string
}

// Mismatch reports whether the answer differs from the expected one.
func (r Result) Mismatch() bool {
	return r.Err == nil && r.Expected != nil && *r.Expected != r.Action
}

const ungoverned = "no rule governs this method; it is passed on and recorded"

// Judge runs one fixture through the frame reader, the method table and the
// policy, the way the proxy would. server stands in where the fixture names
// none.
func Judge(p *policy.Policy, fx Fixture, server string) Result {
	result := Result{Path: fx.Path, Expected: fx.Expected}
	calls, err := fx.Calls(server)
	if err != nil {
		result.Refused, result.Reason = true, fmt.Sprintf("refused before the rules: %v", err)
		return result
	}
	if len(calls) == 0 {
		result.Action, result.Reason = policy.Allow, ungoverned
		return result
	}
	d := p.DecideAll(calls)
	if p.Hinted() || p.AsksDisk() {
		result.Undecided = undecided(p, calls)
	}
	result.Action, result.Rule, result.Reason, result.Reading = d.Action, d.Rule, d.Reason, d.Reading
	if d.Rule == nil && d.Reason == "" {
		result.Reason = "no rule matches"
		if d.Action == policy.Allow {
			result.Reason = ungoverned
		}
	}
	return result
}

// undecided lists what the disk, the time and other such things would have told.
func undecided(p *policy.Policy, calls []policy.Call) (all []string) {
	for i := range calls {
		trace := p.Trace(&calls[i])
		for _, s := range trace.Steps {
			if !s.Reached || s.Match != policy.Perhaps {
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

// Calls are what the rules judge in a fixture, read as the proxy would read them;
// none when no rule governs its method. The error says why the frame would be
// refused before the rules.
func (fx Fixture) Calls(server string) ([]policy.Call, error) {
	if fx.Server != "" {
		server = fx.Server
	}
	calls, err := Calls(fx.Request(1), server)
	for i := range calls {
		calls[i].At = fx.At
	}
	return calls, err
}

// Calls is Fixture.Calls for a JSON-RPC message as bytes, sent by the side that
// may send its method.
func Calls(request []byte, server string) ([]policy.Call, error) {
	f, err := frame.Parse(request, frame.DefaultLimits())
	if err != nil {
		return nil, err
	}
	calls, refusal := callsOf(&f, sender(f.Method), server)
	if refusal != nil {
		return nil, refusal
	}
	return calls, nil
}

// callsOf is what the rules judge in a request. A retry's inputResponses are
// judged by their own texts, for a fixture has no earlier request to remember.
func callsOf(f *frame.Frame, from mcp.Direction, server string) ([]policy.Call, *frame.Refusal) {
	m, refusal := mcp.Read(f, from, server)
	if refusal != nil {
		return nil, refusal
	}
	var nothing mcp.Asked
	answers, refusal := nothing.Answers(f, &m, server)
	return append(m.Calls, answers...), refusal
}

// FromServer reports a request that servers send to clients.
func (fx Fixture) FromServer() bool { return sender(fx.Method) == mcp.ServerToClient }

// sender is the side that may send the method; the client where both may, or
// where the method is of no version.
func sender(method string) mcp.Direction {
	for _, m := range mcp.Methods() {
		if m.Name == method && m.From == mcp.ServerToClient {
			return mcp.ServerToClient
		}
	}
	return mcp.ClientToServer
}

// Request is the fixture as the JSON-RPC request a client or server would send.
func (fx Fixture) Request(id int) []byte {
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
