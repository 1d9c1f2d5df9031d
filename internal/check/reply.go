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

// JudgedMessage returns which message of the fixture the rules judge: the request, its reply, a
// list entry, or an upload.
func (fx *Fixture) JudgedMessage() policy.On {
	switch {
	case fx.Result != nil:
		return policy.OnReply
	case fx.Listed != nil:
		return policy.OnList
	case fx.Upload != nil:
		return policy.OnUpload
	}
	return policy.OnCall
}

// setReplyMember reads one of the members result, list, upload and finds.
func (fx *Fixture) setReplyMember(name string, value gjson.Result) error {
	if name != "finds" {
		switch {
		case !value.IsObject():
			return fmt.Errorf("%q is not an object", name)
		case fx.JudgedMessage() != policy.OnCall:
			return errors.New(`"list", "result" or "upload" beside another: a fixture has one of them`)
		case name == "result":
			fx.Result = []byte(value.Raw)
		case name == "upload":
			fx.Upload = []byte(value.Raw)
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
			return fmt.Errorf(`"finds": %s is not a kind (%v)`, v.Raw, policy.FindingKinds())
		}
		fx.Finds = append(fx.Finds, v.String())
	}
	return nil
}

// parseExpected parses the expected answer. It must be called after all other members are read,
// because the valid answers depend on the judged message.
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

// findKinds returns the kinds of findings in a call. If the fixture states kinds, these are
// returned. Otherwise the detectors and the owner's packs (own) search the texts.
func (fx *Fixture) findKinds(objects [][]byte, texts, kinds []string, own []*inspect.Pack) []string {
	if fx.Finds != nil || len(kinds) == 0 {
		return fx.Finds
	}
	wanted, err := reply.ParseWanted(kinds, own...)
	var found []reply.Finding
	if err == nil {
		found, err = reply.FindInCall(objects, texts, wanted)
	}
	if err != nil { // a part of the call cannot be searched
		return []string{string(inspect.Unscreened)}
	}
	var all []string
	for _, f := range found {
		all = append(all, f.Kind)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ScreenCalls searches the calls and sets their findings.
func (fx *Fixture) ScreenCalls(p *policy.Policy, calls []policy.Call) {
	kinds, ruled := p.Screens(policy.OnCall)
	for i := range calls {
		c := &calls[i]
		if c.Screened = ruled || fx.Finds != nil; c.Screened {
			c.Finds = fx.findKinds([][]byte{c.Args, c.Extra}, c.RequestTexts(), kinds, ownerPacks(p))
		}
	}
}

// ownerPacks returns the packs of the owner that a policy uses.
func ownerPacks(p *policy.Policy) (own []*inspect.Pack) {
	for _, pack := range p.Packs() {
		if one, ok := pack.(*inspect.Pack); ok {
			own = append(own, one)
		}
	}
	return own
}

// AnsweredCalls returns the calls for which the fixture's reply is the answer; for a list entry,
// the call that would have its name. If the fixture states kinds of findings, kinds has these.
// Otherwise kinds has those kinds of findings in the message for which the policy has rules. The
// error tells why the proxy would refuse the message before the rules.
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
	// The detectors always report a forged mark (reply.Fence). If no rule is about such marks, this
	// kind is left out.
	return calls, slices.DeleteFunc(m.JudgedKinds(), func(kind string) bool {
		return kind == reply.Fence && !slices.Contains(wanted, kind)
	}), nil
}

// StrictestAction returns the strictest action in a decision about a reply. It looks at the rule
// that decides and at the rules that alter the reply.
func StrictestAction(d *policy.Decision) policy.Action {
	action := d.Action
	for _, a := range d.Alters {
		action = min(action, a.Rule.Action)
	}
	return action
}

// judgeReply judges the reply or list entry of a fixture. The result's Action is the strictest
// action.
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

// answeredCalls returns the calls for which the fixture's reply is the answer; for a list entry,
// the call that would have its name.
func (fx *Fixture) answeredCalls(server string) ([]policy.Call, error) {
	if fx.JudgedMessage() != policy.OnList {
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
	c.Server, c.Facts = server, policy.Facts{At: fx.At, OS: fx.OS, Assurances: fx.Assurances} // leave out the other facts, because they are about a call, and a list entry is not called
	return []policy.Call{c}, nil
}

// OfferedCall returns the call that would have the name of a list entry.
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
