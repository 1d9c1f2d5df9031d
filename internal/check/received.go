package check

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/clawai/clawai/internal/mcp/reply"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/policy"
)

// replyMeta is the member of _meta in which clawai tells clients what it has altered.
const replyMeta = "io.github.clawai/reply"

// fenceID is used instead of a random name for a fence, so that the result is the same in each run.
var fenceID = strings.Repeat("0", 32)

// checkReceived returns an error if the fixture has expected_result but is not about a reply, or a
// list entry, for the client.
func (fx *Fixture) checkReceived() error {
	switch on := fx.JudgedMessage(); {
	case fx.ExpectedResult == nil:
	case on == policy.OnCall:
		return errors.New(`"expected_result" needs "result", "list" or "upload": it is the part that goes on`)
	case fx.Finds != nil:
		return errors.New(`"expected_result" does not go with "finds": clawai cannot remove text that it does not find itself`)
	case fx.Expected == nil:
		return errors.New(`"expected_result" needs "expected": write the action too, such as "redact"`)
	case *fx.Expected == policy.Deny, *fx.Expected == policy.Prompt && on == policy.OnList:
		return fmt.Errorf(`"expected_result" beside "expected": %q: nothing of it reaches the client`, fx.Expected)
	}
	return nil
}

// errLeftOut means that the alteration removes the entry from the list.
var errLeftOut = errors.New("the entry is removed from the list, because the text to remove is in its name, or in a place that cannot be altered")

// inspectResult inspects the result of the fixture as the proxy would do it. For a list entry, it
// inspects a list with only this entry.
func (fx *Fixture) inspectResult(p *policy.Policy) (*reply.Message, error) {
	body := cmp.Or(string(fx.Result), string(fx.Upload))
	if fx.JudgedMessage() == policy.OnList {
		body = fmt.Sprintf(`{%q:[%s]}`, fx.listMember(), fx.Listed)
	}
	f, err := frame.Parse(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"result":%s}`, body), frame.DefaultLimits())
	if err != nil {
		return nil, err
	}
	kinds, _ := p.Screens(fx.JudgedMessage())
	wanted, err := reply.ParseWanted(append(slices.Clone(kinds), reply.Fence), ownerPacks(p)...)
	if err != nil {
		return nil, err
	}
	return reply.InspectMessage(&f, fx.Method, wanted)
}

// listMember returns the name of the member of a result that has the entries of a list.
func (fx *Fixture) listMember() string { return strings.TrimSuffix(fx.Method, "/list") }

// alterResult returns, as JSON, the altered result or entry for the client. If a person must
// release the reply, the client gets the altered result after the release. The error is the reason
// why the client gets nothing.
func (fx *Fixture) alterResult(alters []policy.Alteration, p *policy.Policy, server string) ([]byte, error) {
	m, err := fx.inspectResult(p)
	if err != nil {
		return nil, err
	}
	c := reply.Change{Server: cmp.Or(fx.Server, server)}
	var done []reply.Alteration
	for _, a := range alters {
		done = append(done, reply.Alteration{How: a.Rule.Action.String(), Kind: a.Kind})
	}
	if fx.JudgedMessage() != policy.OnList {
		m.PlanChange(&c, done, func() string { return fenceID })
	} else {
		every := make([]int, len(m.Findings))
		for i := range every {
			every[i] = i
		}
		removed := false
		if c.Redact, removed = m.PlanEntry(every, done); removed {
			return nil, errLeftOut
		}
	}
	raw, err := m.AlterMessage(&c, reply.NewNumbers(func(value string) [32]byte { return sha256.Sum256([]byte(value)) }), frame.DefaultLimits())
	if err != nil {
		return nil, err
	}
	result := gjson.GetBytes(raw, "result")
	if fx.JudgedMessage() == policy.OnList {
		result = result.Get(fx.listMember() + ".0")
	}
	return []byte(result.Raw), nil
}

// setReceived sets what the client receives. If a required alteration is impossible, the client
// gets nothing, and the action becomes deny.
func (r *Result) setReceived(fx *Fixture, p *policy.Policy, server string) {
	whole := slices.Concat(fx.Result, fx.Listed, fx.Upload) // only one of these is not empty
	switch {
	case fx.Finds != nil || r.Action == policy.Deny || r.Action == policy.Prompt && fx.JudgedMessage() == policy.OnList:
		return
	case len(r.Alters) == 0:
		r.Received = whole
	default:
		got, err := fx.alterResult(r.Alters, p, server)
		if err != nil {
			r.Action, r.Rule, r.Reason, r.Alters = policy.Deny, r.Alters[0].Rule, "withheld: "+err.Error(), nil
			return
		}
		r.Received = got
	}
	r.receivedDiffers = fx.ExpectedResult != nil && !sameResult(r.Received, fx.ExpectedResult)
}

// sameResult reports whether the client gets the expected result. If want is an object, got must be
// equal as JSON; clawai's member of _meta is compared only if want has it. If want is a string, got
// must have exactly these bytes.
func sameResult(got, want []byte) bool {
	if text := gjson.ParseBytes(want); text.Type == gjson.String {
		return string(got) == text.String()
	}
	a, b := decodeObject(got), decodeObject(want)
	if meta, has := a["_meta"].(map[string]any); has && gjson.GetBytes(want, "_meta."+gjsonName(replyMeta)).Raw == "" {
		if delete(meta, replyMeta); len(meta) == 0 && b["_meta"] == nil {
			delete(a, "_meta")
		}
	}
	return reflect.DeepEqual(a, b)
}

// gjsonName returns the path of a member in the syntax of gjson.
func gjsonName(name string) string { return strings.ReplaceAll(name, ".", `\.`) }

func decodeObject(object []byte) (v map[string]any) {
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	_ = d.Decode(&v) // the error is ignored, because the input was parsed as JSON before
	return v
}
