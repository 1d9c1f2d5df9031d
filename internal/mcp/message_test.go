package mcp

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/policy"
	"github.com/google/go-cmp/cmp"
)

// Only a trace context in the form with a fixed length is one.
func TestTraceparent(t *testing.T) {
	const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for meta, want := range map[string]string{
		`{"traceparent":"` + trace + `","progressToken":1}`:                 trace,
		`{"traceparent":"00\u002d` + trace[3:] + `"}`:                       trace,
		`{"traceparent":"` + trace + `-more"}`:                              "",
		`{"traceparent":"00-` + strings.Repeat("0", 32) + trace[35:] + `"}`: "",
		`{"traceparent":7}`:                     "",
		`{"traceparent":{"x":"` + trace + `"}}`: "",
		`{"x/traceparent":"` + trace + `"}`:     "",
		`"` + trace + `"`:                       "",
	} {
		m, r := Read(parse(t, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"n","_meta":`+meta+`}}`), ClientToServer, "fs")
		if r != nil || m.Traceparent != want {
			t.Errorf("%s: %q, %v", meta, m.Traceparent, r)
		}
	}
}

func TestReadToolCall(t *testing.T) {
	f := parse(t, `{"jsonrpc":"2.0","id":7,"method":"tools\/call","params":{"name":"re\u0061d","arguments":{"path":"/p"},"_meta":{"progressToken":"t1","io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
	m, r := Read(f, ClientToServer, "fs")
	if r != nil {
		t.Fatal(r)
	}
	want := []policy.Call{{Server: "fs", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"read"}, Args: []byte(`{"path":"/p"}`)}}
	if d := cmp.Diff(want, m.Calls, besideExtra); d != "" {
		t.Error(d)
	}
	if m.Class != Judge || string(m.ProgressToken) != `"t1"` || !m.Modern {
		t.Errorf("%+v", m)
	}
}

// A method that 2026-07-28 has removed, and that names no resource, is the
// server's to turn down: there is nothing to judge but its name. With anything
// that a reader could take for a resource it is judged as one.
func TestRemovedMethodsWithoutAResourceAreJudgedByTheirName(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
	for params, want := range map[string]policy.Subject{
		`{` + meta + `}`:                   policy.MethodSubject,
		`{"uri":"file:///a",` + meta + `}`: policy.ResourceSubject,
		`{"uri":null,` + meta + `}`:        policy.ResourceSubject,
		`{"uri":["x"],` + meta + `}`:       policy.ResourceSubject,
		`{}`:                               policy.ResourceSubject,
	} {
		for _, method := range []string{"resources/subscribe", "resources/unsubscribe"} {
			m, r := Read(parse(t, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`), ClientToServer, "s")
			if r != nil || len(m.Calls) != 1 || m.Calls[0].Subject != want {
				t.Errorf("%s %s: %+v %v", method, params, m.Calls, r)
			}
		}
	}
	m, r := Read(parse(t, `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{`+meta+`}}`), ClientToServer, "s")
	if r != nil || m.Calls[0].Malformed == "" {
		t.Errorf("a method that is still there: %+v %v", m.Calls, r)
	}
	if _, r := Read(parse(t, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"URI":"file:///a",`+meta+`}}`), ClientToServer, "s"); r == nil {
		t.Error("a disguised uri crosses")
	}
}
