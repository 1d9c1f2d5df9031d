package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/policy"
)

// Composed is a fixture made from a call.
type Composed struct {
	Text []byte // content of the fixture file
	Name string // a file name for the fixture, without extension
}

// errNoFixture means that there is no request that the rules read as this call.
var errNoFixture = errors.New("the call cannot be written as a fixture")

// Compose returns a fixture with the shortest request that the rules read as the call c, and with
// the expected answer. It returns an error if there is no such request.
func Compose(c *policy.Call, expected policy.Action) (Composed, error) {
	return ComposeReply(policy.OnCall, c, expected)
}

// ComposeReply does the work of Compose, also for replies. If the parameter on is policy.OnReply or
// policy.OnUpload, the fixture has the shortest reply to the call. If it is policy.OnList, the
// fixture has the shortest list entry with the call's name. The fixture states the findings in c.
func ComposeReply(on policy.On, c *policy.Call, expected policy.Action) (Composed, error) {
	if len(c.Names) == 0 {
		return Composed{}, errNoFixture
	}
	method, params := composeRequest(c)
	var result, entry, upload any
	switch on {
	case policy.OnReply:
		result = answerOf(c)
	case policy.OnUpload:
		upload = answerOf(c)
	case policy.OnList:
		if method, entry = listEntry(c); method == "" {
			return Composed{}, errNoFixture
		}
		params = nil
	}
	if method == "" || !utf8.Valid(c.Args) {
		return Composed{}, errNoFixture
	}
	fx := []member{{"server", textOrNil(c.Server)}}
	for i := range factMembers {
		fx = append(fx, member{factMembers[i].name, factMembers[i].write(&c.Facts)})
	}
	fx = append(fx, member{"method", method}, member{"params", params}, member{"result", result}, member{"list", entry}, member{"upload", upload})
	var noFinds Fixture // a fixture that states no findings, so findKinds runs the detectors
	if c.Screened && len(c.Finds)+len(noFinds.findKinds([][]byte{c.Args}, c.RequestTexts(), policy.FindingKinds(), nil)) > 0 {
		fx = append(fx, member{"finds", append([]string{}, c.Finds...)})
	}
	text, err := encodeMembers(append(fx, member{"expected", expected.String()}))
	if err != nil {
		return Composed{}, errNoFixture
	}
	return Composed{Text: text, Name: fileName(c, expected)}, nil
}

// member is a member of a JSON object. If value is nil, encodeMembers leaves the member out.
type member struct {
	name  string
	value any
}

// encodeMembers returns a JSON object with the members in the given order, one per line.
func encodeMembers(members []member) ([]byte, error) {
	var compact, out bytes.Buffer
	enc := json.NewEncoder(&compact)
	enc.SetEscapeHTML(false)
	for _, m := range members {
		if m.value == nil {
			continue
		}
		fmt.Fprintf(&compact, ",%q:", m.name)
		if err := enc.Encode(m.value); err != nil {
			return nil, err
		}
	}
	compact.WriteByte('}')
	object := compact.Bytes()
	object[0] = '{'
	err := json.Indent(&out, object, "", "  ")
	out.WriteByte('\n')
	return out.Bytes(), err
}

// answerOf returns a result that a server could send for the call. The result contains a text,
// because some rules mark texts.
func answerOf(c *policy.Call) any {
	type object = map[string]any
	text := object{"type": "text", "text": "x"}
	switch c.Subject {
	case policy.ToolSubject:
		return object{"content": []object{text}}
	case policy.PromptSubject:
		return object{"messages": []object{{"role": "user", "content": text}}}
	case policy.ResourceSubject:
		return object{"contents": []object{{"uri": c.Names[0], "text": "x"}}}
	}
	return object{}
}

// listEntry returns the list method for a call, and a list entry with the call's name. It returns
// "" and nil if there is no list method for calls of this kind.
func listEntry(c *policy.Call) (method string, entry any) {
	switch c.Subject {
	case policy.ToolSubject:
		return "tools/list", map[string]string{"name": c.Names[0]}
	case policy.PromptSubject:
		return "prompts/list", map[string]string{"name": c.Names[0]}
	case policy.ResourceSubject:
		return "resources/list", map[string]string{"uri": c.Names[0]}
	}
	return "", nil
}

// composeRequest returns the method and the parameters of a request for the call. The method is ""
// if there is no such request.
func composeRequest(c *policy.Call) (method string, params any) {
	type object = map[string]any
	name := c.Names[0]
	named := struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments,omitempty"`
	}{name, c.Args}
	if c.Subject == policy.ToolSubject && c.Method == builtin.Method {
		return builtin.Method, named
	}
	switch c.Subject {
	case policy.ToolSubject:
		return "tools/call", named
	case policy.PromptSubject:
		return "prompts/get", named
	case policy.ResourceSubject:
		if len(c.Names) > 1 {
			return "", nil
		}
		return "resources/read", object{"uri": name}
	case policy.SamplingSubject:
		var messages []object
		for _, text := range c.Names {
			messages = append(messages, object{"role": "user", "content": object{"type": "text", "text": text}})
		}
		return "sampling/createMessage", object{"messages": messages, "maxTokens": 100}
	case policy.ElicitationSubject:
		if len(c.Names) > 1 {
			return "", nil
		}
		return "elicitation/create", object{"message": name, "requestedSchema": object{"type": "object", "properties": object{}}}
	case policy.MethodSubject:
		return name, nil
	}
	return "", nil
}

// fileName makes a file name from the answer and the name of the call.
func fileName(c *policy.Call, expected policy.Action) string {
	out := []byte(expected.String() + "-")
	for _, r := range c.Names[0] {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			out = append(out, byte(r))
		case r >= 'A' && r <= 'Z':
			out = append(out, byte(r)|0x20)
		case out[len(out)-1] != '-':
			out = append(out, '-')
		}
		if len(out) > 48 {
			break
		}
	}
	return string(bytes.TrimRight(out, "-"))
}
