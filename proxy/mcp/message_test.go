package mcp

import (
	"testing"

	"github.com/clawai/clawai/policy"
	"github.com/google/go-cmp/cmp"
)

func TestReadToolCall(t *testing.T) {
	f := parse(t, `{"jsonrpc":"2.0","id":7,"method":"tools\/call","params":{"name":"re\u0061d","arguments":{"path":"/p"},"_meta":{"progressToken":"t1","io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
	m, r := Read(f, ClientToServer, "fs")
	if r != nil {
		t.Fatal(r)
	}
	want := []policy.Call{{Server: "fs", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"read"}, Args: []byte(`{"path":"/p"}`)}}
	if d := cmp.Diff(want, m.Calls); d != "" {
		t.Error(d)
	}
	if m.Class != Judge || string(m.ProgressToken) != `"t1"` || !m.Modern {
		t.Errorf("%+v", m)
	}
}
