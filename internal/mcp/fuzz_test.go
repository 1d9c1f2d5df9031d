package mcp

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
	"unsafe"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/policy"
)

// reference is a second opinion on what params name, by another parser that
// shares no code with the gate's.
type reference struct {
	strings []string // every string in params, at any depth
	members map[string]json.RawMessage
}

func refer(t *testing.T, params []byte) (r reference) {
	t.Helper()
	if params == nil {
		return r
	}
	// A map keeps names in exact case; frame has refused duplicates.
	if err := json.Unmarshal(params, &r.members); err != nil {
		t.Fatalf("%s: %v", params, err)
	}
	var any any
	if err := json.Unmarshal(params, &any); err != nil {
		t.Fatal(err)
	}
	r.walk(any)
	return r
}

func (r *reference) walk(v any) {
	switch v := v.(type) {
	case string:
		r.strings = append(r.strings, v)
	case []any:
		for _, e := range v {
			r.walk(e)
		}
	case map[string]any:
		for _, e := range v {
			r.walk(e)
		}
	}
}

// text is a member that is a string.
func (r reference) text(name string) (s string, ok bool) {
	raw := r.members[name]
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	return s, json.Unmarshal(raw, &s) == nil
}

// names is what the rules must see of a well-formed call of a given shape.
func (r reference) names(s shape) (names []string) {
	var listen struct {
		URIs []string `json:"resourceSubscriptions"`
	}
	wanted := map[shape][]string{named: {"name"}, oneURI: {"uri"}, elicitation: {"message", "url"}}[s]
	for _, member := range wanted {
		if text, ok := r.text(member); ok {
			names = append(names, text)
		}
	}
	if raw := r.members["notifications"]; s == subscriptions && raw != nil && json.Unmarshal(raw, &listen) == nil {
		names = listen.URIs
	}
	return names
}

func FuzzRead(f *testing.F) {
	for name, row := range rows {
		for _, notification := range []bool{false, true} {
			f.Add([]byte(request(name, row.params, notification)), notification)
		}
	}
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools\/call","params":{"n\u0061me":"\u0061","arguments":{"a":{"b":[1]}}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"Tools/Call ","params":{"Name":"a"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"resource_link","uri":"u"}]}]}]}}`,
		`{"jsonrpc":"2.0","id":1,"method":"vendor/x","params":{"_meta":{"progressToken":"\u0000"}}}`,
	} {
		f.Add([]byte(line), true)
	}
	f.Fuzz(func(t *testing.T, line []byte, fromServer bool) {
		fr, err := frame.Parse(line, frame.DefaultLimits())
		if err != nil {
			t.Skip()
		}
		d := ClientToServer
		if fromServer {
			d = ServerToClient
		}
		m, r := Read(&fr, d, "s")
		if r != nil {
			if r.Code == "" || r.Reason == "" || r.Request != (fr.Kind == frame.Request) || m.Calls != nil {
				t.Errorf("%+v %+v", r, m)
			}
			if answer := RefusalAnswer(r, "rec"); answer != nil {
				admitted(t, answer)
			}
			return
		}
		checkMessage(t, &fr, &m)
	})
}

func checkMessage(t *testing.T, fr *frame.Frame, m *Message) {
	for _, span := range [][]byte{m.ProgressToken, m.Cancels, m.InputResponses} {
		inside(t, fr.Raw, span)
	}
	ref := refer(t, fr.Params)
	row := methodNamed(fr.Method)
	if row == nil || row.params == none || fr.Kind == frame.Response {
		if m.Class == Judge {
			t.Errorf("nothing to judge in %q", fr.Method)
		}
		return
	}
	want := ref.names(row.params)
	if m.Class != Judge {
		if row.params != subscriptions || len(want) > 0 {
			t.Fatalf("%s came back as %v", fr.Raw, m.Class)
		}
		return
	}
	c := m.Calls[0]
	inside(t, fr.Raw, c.Args)
	if len(m.Calls) != 1 || c.Subject != row.Subject || c.Method != fr.Method || len(c.Names) == 0 && c.Malformed == "" {
		t.Fatalf("%+v", m.Calls)
	}
	if c.Malformed != "" {
		return
	}
	if args := ref.members["arguments"]; row.params == named && !bytes.Equal(args, c.Args) && string(args) != "null" {
		t.Errorf("arguments %q, want %q", c.Args, args)
	}
	if row.params == sampling {
		for _, name := range c.Names {
			if name != "" && !slices.Contains(ref.strings, name) {
				t.Errorf("%q is not in %s", name, fr.Raw)
			}
		}
	} else if !slices.Equal(want, c.Names) {
		t.Errorf("names %q, want %q", c.Names, want)
	}
	admitted(t, Denial{What: c, Stage: "policy", Code: "no_rule", Record: "r"}.AnswerFrame(Caller{ID: fr.ID, Method: fr.Method, Modern: m.Modern}))
	if m.ProgressToken != nil {
		admitted(t, ProgressNotification(m.ProgressToken, 1, c.Names[0]))
	}
}

// inside fails when span is not a part of raw's own memory.
func inside(t *testing.T, raw, span []byte) {
	t.Helper()
	if len(span) == 0 {
		return
	}
	from := uintptr(unsafe.Pointer(&raw[0]))
	at := uintptr(unsafe.Pointer(&span[0]))
	if at < from || at+uintptr(len(span)) > from+uintptr(len(raw)) {
		t.Errorf("%q is not a part of %q", span, raw)
	}
}

// admitted fails when the gate would refuse what the gate itself writes.
func admitted(t *testing.T, line []byte) frame.Frame {
	t.Helper()
	f, err := frame.Parse(line, frame.DefaultLimits())
	if err != nil {
		t.Errorf("%s: %v", line, err)
	}
	return f
}

func FuzzInputCalls(f *testing.F) {
	for _, seed := range []string{
		result(`"resultType":"input_required","inputRequests":{"a":` + askSampling + `,"b":` + askURL + `,"c":` + askRoots + `}`),
		result(`"result":{"inputRequests":{"a":` + askElicit + `}}`),
		`{"jsonrpc":"2.0","method":"notifications/tasks","params":{"inputRequests":{"a":` + askElicit + `}}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"m","data":{"elicitations":[{"message":"m","url":"u"}]}}}`,
		result(`"inputRequests":{"a":{"method":"tools/call","params":{"name":"x"}}}`),
		result(`"\u0069nputRequests":{"a":` + askElicit + `}`),
		request("tools/call", `{"name":"x","inputResponses":{"a":{"action":"accept","content":{"a":1}},"b":{"roots":[]},"c":{"role":"user","content":[]}}}`, false),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		fr, err := frame.Parse(line, frame.DefaultLimits())
		if err != nil {
			t.Skip()
		}
		in, r := InputCalls(&fr, "s")
		want := map[string]struct{ Method string }{}
		exact := refer(t, slices.Concat(fr.Result, fr.Params)).members["inputRequests"]
		if r == nil && fr.Kind != frame.Request && exact != nil && json.Unmarshal(exact, &want) == nil {
			for key, entry := range want {
				if i := slices.Index(in.Keys, key); i < 0 || !slices.ContainsFunc(in.Calls, func(c policy.Call) bool { return c.Method == entry.Method }) {
					t.Errorf("%q of %s is not judged", key, fr.Raw)
				}
			}
		}
		for _, c := range in.Calls {
			if r != nil || c.Malformed == "" && (len(c.Names) == 0 || c.Subject == policy.NoSubject) {
				t.Errorf("%+v %+v", r, c)
			}
		}
		var a Asked
		a.RememberInputs(in)
		if known := a.KnowsInputs(in); known != (len(in.Calls) > 0) && a.bytes < maxAskedBytes/2 && len(in.Calls) <= maxAsked {
			t.Errorf("known %v after %d calls", known, len(in.Calls))
		}
		if m, r := Read(&fr, ClientToServer, "s"); r == nil && m.InputResponses != nil {
			calls, r := a.AnswerCalls(&fr, &m, "s")
			var answers map[string]json.RawMessage
			if r == nil && json.Unmarshal(m.InputResponses, &answers) == nil && len(calls) < len(answers) {
				t.Errorf("%d calls for %d answers", len(calls), len(answers))
			}
		}
	})
}
