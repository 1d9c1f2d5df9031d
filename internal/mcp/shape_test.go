package mcp

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/policy"
	"github.com/google/go-cmp/cmp"
)

// A judged call of the wrong shape is a call that no rule can allow, so that it
// is denied, answered and recorded like any other.
func TestWrongShapesAreMalformed(t *testing.T) {
	for _, c := range []struct {
		d              Direction
		method, params string
	}{
		{ClientToServer, "tools/call", ``},
		{ClientToServer, "tools/call", `{}`},
		{ClientToServer, "tools/call", `{"name":5}`},
		{ClientToServer, "tools/call", `{"name":null}`},
		{ClientToServer, "tools/call", `{"name":["shell"]}`},
		{ClientToServer, "tools/call", `{"name":"x","arguments":"{}"}`},
		{ClientToServer, "tools/call", `{"name":"x","arguments":[{}]}`},
		{ClientToServer, "tools/call", `{"name":"x","arguments":true}`},
		{ClientToServer, "tools/call", `{"name":"sh\u200bell"}`},
		{ClientToServer, "tools/call", `{"name":"shell\u0000"}`},
		{ClientToServer, "tools/call", `{"name":"shell\u202e"}`},
		{ClientToServer, "tools/call", `{"name":"shell\u00a0"}`},
		{ClientToServer, "tools/call", `{"name":"shell\ufe0f"}`},
		{ClientToServer, "tools/call", `{"name":"shell\u2800"}`},
		{ClientToServer, "tools/call", `{"name":"shell\u3164"}`},
		{ClientToServer, "tools/call", `{"name":"shell\udb40\udc41"}`},
		{ClientToServer, "tools/call", `{"name":"shell\u007f"}`},
		{ClientToServer, "tools/call", `{"name":"shell\ue000"}`},
		{ClientToServer, "tools/call", `{"name":"shell\ufffd"}`},
		{ClientToServer, "tools/call", `{"name":"a\nb"}`},
		{ClientToServer, "prompts/get", `{"name":{}}`},
		{ClientToServer, "resources/read", `{"uri":7}`},
		{ClientToServer, "resources/read", `{"name":"x"}`},
		{ClientToServer, "resources/subscribe", ``},
		{ClientToServer, "resources/unsubscribe", ``},
		{ClientToServer, "resources/directory/read", ``},
		{ClientToServer, "skills/get", `{"name":"x"}`},
		{ClientToServer, "subscriptions/listen", `{"notifications":["a"]}`},
		{ClientToServer, "subscriptions/listen", `{"notifications":{"resourceSubscriptions":"a"}}`},
		{ClientToServer, "subscriptions/listen", `{"notifications":{"resourceSubscriptions":["a",{}]}}`},
		{ClientToServer, "subscriptions/listen", `{"notifications":{"resourceSubscriptions":[null]}}`},
		{ServerToClient, "sampling/createMessage", ``},
		{ServerToClient, "sampling/createMessage", `{"messages":{}}`},
		{ServerToClient, "sampling/createMessage", `{"messages":["hi"]}`},
		{ServerToClient, "sampling/createMessage", `{"messages":[{"role":"user"}]}`},
		{ServerToClient, "sampling/createMessage", `{"messages":[{"role":"user","content":"hi"}]}`},
		{ServerToClient, "sampling/createMessage", `{"messages":[{"role":"user","content":["hi"]}]}`},
		{ServerToClient, "sampling/createMessage", `{"messages":[{"role":"user","content":{"type":"text","text":5}}]}`},
		{ServerToClient, "sampling/createMessage", `{"messages":[],"systemPrompt":{"text":"x"}}`},
		{ServerToClient, "sampling/createMessage", `{"messages":[{"role":"user","content":[{"type":"tool_use","input":{"q":[` + strings.Repeat(`"",`, 2*maxNames) + `""]}}]}]}`},
		{ServerToClient, "elicitation/create", ``},
		{ServerToClient, "elicitation/create", `{"message":["x"]}`},
		{ServerToClient, "elicitation/create", `{"message":"x","url":["https://x.test"]}`},
	} {
		m, r := Read(parse(t, request(c.method, c.params, false)), c.d, "s")
		if r != nil || m.Class != Judge || len(m.Calls) != 1 || m.Calls[0].Malformed == "" {
			t.Errorf("%s %.200s: %+v %.200v", c.method, c.params, r, m.Calls)
		} else if len(m.Calls[0].Names) > maxNames+1 {
			t.Errorf("%d names", len(m.Calls[0].Names))
		}
	}
}

func TestSamplingTexts(t *testing.T) {
	for _, c := range []struct {
		params string
		want   []string
	}{
		{`{"messages":[]}`, []string{""}},
		{`{"messages":[],"systemPrompt":null}`, []string{""}},
		{`{"messages":[],"systemPrompt":""}`, []string{""}},
		{`{"messages":[{"role":"user","content":{"type":"image","data":"AAAA","mimeType":"image/png"}}]}`, []string{""}},
		{`{"messages":[{"role":"user","content":{"type":"audio","data":"AAAA","mimeType":"audio/wav"}}],"systemPrompt":"s"}`, []string{"s"}},
		{`{"messages":[{"role":"user","content":{"type":"text","text":"a\u0062"}},{"role":"assistant","content":[{"type":"text","text":"c"},{"type":"text","text":""}]}]}`, []string{"ab", "c", ""}},
		{`{"messages":[{"role":"assistant","content":{"type":"tool_use","id":"i","name":"n","input":{"q":["x",{"y":"z"}],"n":5}}}]}`, []string{"x", "z"}},
		{`{"messages":[{"role":"user","content":[{"type":"tool_result","toolUseId":"i","content":[{"type":"text","text":"a"},{"type":"image","data":"A"}],"structuredContent":{"k":"b"}}]}]}`, []string{"b", "a"}},
		{`{"messages":[{"role":"user","content":{"type":"tool_result","toolUseId":"i"}}]}`, []string{""}},
		{`{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"file:///a","text":"t","mimeType":"text/plain","blob":"B"}}}]}`, []string{"file:///a", "t"}},
		{`{"messages":[{"role":"user","content":{"type":"resource_link","uri":"file:///a","name":"n"}}]}`, []string{"file:///a", "n"}},
		{`{"messages":[{"role":"user","content":{"text":"no type"}}]}`, []string{"no type"}},
		{`{"messages":[{"role":"user","content":{"type":5,"text":"odd type"}}]}`, []string{"odd type"}},
		{`{"messages":[],"tools":[{"name":"t","description":"d","inputSchema":{"type":"object","title":"T","properties":{"p":{"type":"string","description":"e"}}}}]}`, []string{"d", "T", "e"}},
	} {
		m, r := Read(parse(t, request("sampling/createMessage", c.params, false)), ServerToClient, "s")
		if r != nil {
			t.Errorf("%s: %v", c.params, r)
			continue
		}
		want := []policy.Call{{Server: "s", Method: "sampling/createMessage", Subject: policy.SamplingSubject, Names: c.want}}
		if diff := cmp.Diff(want, m.Calls, besideExtra); diff != "" {
			t.Errorf("%s\n%s", c.params, diff)
		}
	}
}

func TestElicitationTexts(t *testing.T) {
	for params, want := range map[string][]string{
		`{"message":"m","requestedSchema":{"type":"object","properties":{}}}`: {"m"},
		`{"mode":"url","message":"m","url":"https://x.test"}`:                 {"m", "https://x.test"},
		`{"mode":"form","message":"m","url":"https://x.test"}`:                {"m", "https://x.test"},
	} {
		m, r := Read(parse(t, request("elicitation/create", params, false)), ServerToClient, "s")
		if r != nil || !cmp.Equal(m.Calls[0].Names, want) || m.Calls[0].Malformed != "" {
			t.Errorf("%s: %+v %+v", params, r, m.Calls)
		}
	}
}

func TestSubscriptionToNoResourcePasses(t *testing.T) {
	for _, params := range []string{``, `{}`, `{"notifications":{"toolsListChanged":true}}`, `{"notifications":{"resourceSubscriptions":[]}}`, `{"notifications":{"resourceSubscriptions":null}}`} {
		m, r := Read(parse(t, request("subscriptions/listen", params, false)), ClientToServer, "s")
		if r != nil || m.Class != Pass || m.Calls != nil {
			t.Errorf("%s: %+v %+v", params, r, m)
		}
	}
}

func TestEnvelope(t *testing.T) {
	for _, c := range []struct {
		line string
		want Message
	}{
		{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a\u0062","reason":"r"}}`, Message{Cancels: []byte(`"a\u0062"`)}},
		{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12}}`, Message{Cancels: []byte(`12`)}},
		{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}}`, Message{}},
		{`{"jsonrpc":"2.0","method":"notifications/cancelled"}`, Message{}},
		{`{"jsonrpc":"2.0","method":"notifications/progress","params":{"requestId":12}}`, Message{}},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"progressToken":0}}}`, Message{ProgressToken: []byte("0")}},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"progressToken":"p\"q"}}}`, Message{ProgressToken: []byte(`"p\"q"`)}},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"progressToken":[1]}}}`, Message{}},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":"x"}}`, Message{}},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, Message{Modern: true}},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":5}}}`, Message{}},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"taskId":"t1","inputResponses":{"k":{}}}}`, Message{InputResponses: []byte(`{"k":{}}`)}},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"taskId":1}}`, Message{}},
		{`{"jsonrpc":"2.0","id":1,"result":{"taskId":"t1"}}`, Message{}},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}`, Message{}},
	} {
		m, r := Read(parse(t, c.line), ClientToServer, "s")
		m.Method, c.want.Class = nil, Pass
		if diff := cmp.Diff(c.want, m, besideExtra); diff != "" || r != nil {
			t.Errorf("%s: %v\n%s", c.line, r, diff)
		}
	}
}

func TestReadRefusesWhatIsNoMessage(t *testing.T) {
	call := parse(t, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	for _, d := range []Direction{0, Both, 4} {
		if _, r := Read(call, d, "s"); r == nil || r.Code != CodeDirection {
			t.Errorf("direction %d: %+v", d, r)
		}
	}
	batch := *call
	for _, batch.Kind = range []frame.Kind{frame.Invalid, frame.Batch, 9} {
		if _, r := Read(&batch, ClientToServer, "s"); r == nil || r.Code != CodeKind {
			t.Errorf("kind %d: %+v", batch.Kind, r)
		}
	}
}

func TestInitialize(t *testing.T) {
	m, _ := Read(parse(t, request("initialize", `{"protocolVersion":"2025-06-18"}`, false)), ClientToServer, "s")
	if other, _ := Read(parse(t, request("ping", ``, false)), ClientToServer, "s"); !m.IsInitialize() || other.IsInitialize() || (&Message{}).IsInitialize() {
		t.Error("initialize was not told from the rest")
	}
	for result, want := range map[string]string{
		`{"protocolVersion":"2025-03-26","capabilities":{}}`: "2025-03-26",
		`{"capabilities":{"protocolVersion":"2025-03-26"}}`:  "",
		`{"protocolVersion":5}`:                              "",
		`[]`:                                                 "",
		``:                                                   "",
	} {
		if got := NegotiatedVersion([]byte(result)); got != want {
			t.Errorf("%s: %q", result, got)
		}
	}
}

func TestDirectionWords(t *testing.T) {
	if ClientToServer.String() != "client" || ServerToClient.String() != "server" || Both.String() != "unknown" {
		t.Error("records name the sender otherwise")
	}
}
