package check

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/clawai/clawai/internal/mcp/reply"
	"github.com/clawai/clawai/internal/text/inspect"
	"github.com/clawai/clawai/policy"
)

// JudgedMessage gives what the fixture has judged: the request, what came back to it, or the entries of
// a list.
func (fx *Fixture) JudgedMessage() policy.On {
	switch {
	case fx.Result != nil:
		return policy.OnReply
	case fx.Listed != nil:
		return policy.OnList
	}
	return policy.OnCall
}

// cameBack reads the members about what came back.
func (fx *Fixture) cameBack(name string, value gjson.Result) error {
	if name != "finds" {
		switch {
		case !value.IsObject():
			return fmt.Errorf("%q is not an object", name)
		case fx.JudgedMessage() != policy.OnCall:
			return errors.New(`"list" beside "result": a fixture has one of them`)
		case name == "result":
			fx.Result = []byte(value.Raw)
		default:
			fx.Listed = []byte(value.Raw)
		}
		return nil
	}
	if !value.IsArray() {
		return errors.New(`"finds" is not a list of kinds`)
	}
	fx.Finds = []string{}
	for _, v := range value.Array() {
		if !policy.IsKind(v.String()) || v.Type != gjson.String {
			return fmt.Errorf(`"finds": %s is no kind (%v)`, v.Raw, policy.FindingKinds())
		}
		fx.Finds = append(fx.Finds, v.String())
	}
	return nil
}

// parseExpected reads what is expected, once it is known of what.
func (fx *Fixture) parseExpected() error {
	if fx.expected == nil {
		return nil
	}
	action, err := fx.JudgedMessage().ParseAction(*fx.expected)
	if err != nil {
		return fmt.Errorf(`"expected": %w`, err)
	}
	fx.Expected = &action
	return nil
}

// findKinds gives the kinds that rules are about in what a call carries: those that the fixture
// states, or what the detectors see.
func (fx *Fixture) findKinds(objects [][]byte, texts, kinds []string, own []*inspect.Pack) []string {
	if fx.Finds != nil || len(kinds) == 0 {
		return fx.Finds
	}
	wanted, err := reply.ParseWanted(kinds, own...)
	var found []reply.Finding
	if err == nil {
		found, err = reply.FindInCall(objects, texts, wanted)
	}
	if err != nil { // a test holds the words to each other
		return []string{string(inspect.Unscreened)}
	}
	var all []string
	for _, f := range found {
		all = append(all, f.Kind)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ScreenCalls notes what is found in what calls carry.
func (fx *Fixture) ScreenCalls(p *policy.Policy, calls []policy.Call) {
	kinds, ruled := p.Screens(policy.OnCall)
	for i := range calls {
		c := &calls[i]
		if c.Screened = ruled || fx.Finds != nil; c.Screened {
			c.Finds = fx.findKinds([][]byte{c.Args, c.Extra}, c.RequestTexts(), kinds, ownerPacks(p))
		}
	}
}

// ownerPacks gives those of the owner's that a policy names.
func ownerPacks(p *policy.Policy) (own []*inspect.Pack) {
	for _, pack := range p.Packs() {
		if one, ok := pack.(*inspect.Pack); ok {
			own = append(own, one)
		}
	}
	return own
}

// AnsweredCalls gives the calls to which something came back, or that would name what is listed,
// and the kinds that rules of the policy are about and that were found in it. The error says why
// the frame would be refused before the rules.
func (fx *Fixture) AnsweredCalls(p *policy.Policy, server string) (calls []policy.Call, kinds []string, err error) {
	calls, err = fx.answeredCalls(server)
	if err != nil {
		return nil, nil, err
	}
	wanted, _ := p.Screens(fx.JudgedMessage())
	if fx.Finds != nil || len(wanted) == 0 {
		return calls, fx.Finds, nil
	}
	m, err := fx.inspectResult(p)
	if err != nil {
		return nil, nil, err
	}
	return calls, slices.DeleteFunc(m.JudgedKinds(), func(kind string) bool { // a forged mark is looked for in any case
		return kind == reply.Fence && !slices.Contains(wanted, kind)
	}), nil
}

// StrictestAction gives what rules do with what came back: the strictest of it.
func StrictestAction(d *policy.Decision) policy.Action {
	action := d.Action
	for _, a := range d.Alters {
		action = min(action, a.Rule.Action)
	}
	return action
}

// judgeReply judges what came back to the fixture's request. The answer is the strictest
// that the rules give: what is done to the reply is in Alters.
func judgeReply(p *policy.Policy, fx Fixture, server string) Result {
	result := Result{Path: fx.Path, Expected: fx.Expected}
	calls, kinds, err := fx.AnsweredCalls(p, server)
	if err != nil {
		result.Refused, result.Reason = true, fmt.Sprintf("refused before the rules: %v", err)
		return result
	}
	result.Finds = kinds
	d := p.DecideReply(fx.JudgedMessage(), calls, result.Finds)
	result.Action, result.Rule, result.Reason, result.Reading, result.Alters = StrictestAction(&d), d.Rule, d.Reason, d.Reading, d.Alters
	if d.Rule == nil && d.Reason == "" && len(d.Alters) == 0 {
		result.Reason = "no rule stops or alters it"
	}
	result.setReceived(&fx, p, server)
	return result
}

// answeredCalls gives the calls that are answered, or those that would name what is listed.
func (fx *Fixture) answeredCalls(server string) ([]policy.Call, error) {
	if fx.JudgedMessage() == policy.OnReply {
		return fx.ReadCalls(server)
	}
	if fx.Server != "" {
		server = fx.Server
	}
	name := gjson.GetBytes(fx.Listed, "name")
	switch fx.Method {
	case "tools/list", "prompts/list":
	case "resources/list":
		name = gjson.GetBytes(fx.Listed, "uri")
	default:
		return nil, fmt.Errorf("%q lists nothing that rules are about (tools/list, prompts/list, resources/list)", fx.Method)
	}
	if name.Type != gjson.String {
		return nil, errors.New("the entry has no name")
	}
	c := OfferedCall(fx.Method, name.String())
	c.Server, c.Facts = server, policy.Facts{At: fx.At, OS: fx.OS, Assurances: fx.Assurances} // no call has begun
	return []policy.Call{c}, nil
}

// OfferedCall gives the call that would name an entry of a list.
func OfferedCall(method, name string) policy.Call {
	c := policy.Call{Method: "resources/read", Subject: policy.ResourceSubject, Names: []string{name}}
	switch method {
	case "tools/list":
		c.Method, c.Subject = "tools/call", policy.ToolSubject
	case "prompts/list":
		c.Method, c.Subject = "prompts/get", policy.PromptSubject
	}
	return c
}
