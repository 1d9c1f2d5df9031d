package mcp

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/policy"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// besideExtra leaves out what the tests of this file are about, and room for the calls.
var besideExtra = cmp.Options{cmpopts.IgnoreFields(policy.Call{}, "Extra", "Quiet"), cmpopts.IgnoreUnexported(Message{})}

// What params hold beside what the call tells is its Extra, as received; what the
// protocol and known clients put there for themselves is not.
func TestExtraIsWhatTheCallDoesNotTell(t *testing.T) {
	const server = ServerToClient
	for _, c := range []struct {
		method, params, want string
		from                 Direction
	}{
		{"tools/call", `{"name":"n","arguments":{"a":1}}`, ``, 0},
		{"tools/call", `{"name":"n","arguments":null}`, ``, 0},
		{"tools/call", `{"name":"n","arguments":[1]}`, `{"arguments":[1]}`, 0},
		{"tools/call", `{"name":"n","cwd":"/etc","arguments":{},"env":{"A" : "b"}}`, `{"cwd":"/etc","env":{"A" : "b"}}`, 0},
		{"tools/call", `{"name":"n","task":{"ttl":60}}`, `{"task":{"ttl":60}}`, 0},
		{"tools/call", `{"name":"n","c\u0077d":"/"}`, `{"c\u0077d":"/"}`, 0},
		{"tools/call", `{"name":"n","uri":"u","requestState":"s","inputResponses":{"k":{}}}`, `{"uri":"u","requestState":"s","inputResponses":{"k":{}}}`, 0},
		{"resources/read", `{"uri":"u","range":[1,2]}`, `{"range":[1,2]}`, 0},
		{"resources/read", `{"uri":"u"}`, ``, 0},
		{"prompts/get", `{"name":"n","x":1}`, `{"x":1}`, 0},
		{"completion/complete", `{"ref":{"type":"ref/prompt"},"argument":{"name":"a"}}`, `{"ref":{"type":"ref/prompt"},"argument":{"name":"a"}}`, 0},
		{"tools/list", ``, ``, 0},
		{"vendor/x", `{"y":1,"_meta":{"progressToken":1}}`, `{"y":1}`, 0},
		{"subscriptions/listen", `{"notifications":{"resourceSubscriptions":["u"]}}`, ``, 0},
		{"subscriptions/listen", `{"notifications":{"resourceSubscriptions":["u"],"taskIds":["t"]}}`, `{"notifications":{"resourceSubscriptions":["u"],"taskIds":["t"]}}`, 0},
		{"elicitation/create", `{"message":"m","mode":"form","requestedSchema":{}}`, `{"mode":"form","requestedSchema":{}}`, server},
		{"sampling/createMessage", `{"messages":[{"role":"user","content":{"type":"text","text":"a"}}],"systemPrompt":"s","maxTokens":5}`, `{"maxTokens":5}`, server},
		{"sampling/createMessage", `{"messages":[{"role":"assistant","content":{"type":"text","text":"a"}}]}`, `{"messages":[{"role":"assistant","content":{"type":"text","text":"a"}}]}`, server},
		{"sampling/createMessage", `{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}`, `{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}`, server},
		{"sampling/createMessage", `{"messages":[{"role":"user","content":{"type":"text","text":"a","annotations":{}}}]}`, `{"messages":[{"role":"user","content":{"type":"text","text":"a","annotations":{}}}]}`, server},
		{"sampling/createMessage", `{"messages":["x"]}`, `{"messages":["x"]}`, server},

		{"tools/call", `{"name":"n","_meta":{}}`, ``, 0},
		{"tools/call", `{"name":"n","_meta":"x"}`, `{"_meta":"x"}`, 0},
		{"tools/call", `{"name":"n","_meta":{"progressToken":"any text at all"}}`, ``, 0},
		{"tools/call", `{"name":"n","_meta":{"progressToken":{"a":1}}}`, `{"_meta":{"progressToken":{"a":1}}}`, 0},
		{"tools/call", `{"name":"n","_meta":{"claudecode/toolUseId":"toolu_01A9","progressToken":3}}`, ``, 0},
		{"tools/call", `{"name":"n","_meta":{"claudecode/toolUseId":"rm -rf /","progressToken":3}}`, `{"_meta":{"claudecode/toolUseId":"rm -rf /"}}`, 0},
		{"tools/call", `{"name":"n","_meta":{"callId":"` + strings.Repeat("a", 129) + `"}}`, `{"_meta":{"callId":"` + strings.Repeat("a", 129) + `"}}`, 0},
		{"tools/call", `{"name":"n","_meta":{"x-codex-turn-metadata":{"turn_id":"0199-ab","n":1,"b":true}}}`, ``, 0},
		{"tools/call", `{"name":"n","_meta":{"x-codex-turn-metadata":{"turn id":"0199"}}}`, `{"_meta":{"x-codex-turn-metadata":{"turn id":"0199"}}}`, 0},
		{"tools/call", `{"name":"n","_meta":{"x-codex-turn-metadata":{"w":{"a":1}}}}`, `{"_meta":{"x-codex-turn-metadata":{"w":{"a":1}}}}`, 0},
		{"tools/call", `{"name":"n","_meta":{"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01","tracestate":"a=b,c=d"}}`, ``, 0},
		{"tools/call", `{"name":"n","_meta":{"traceparent":{"cmd":"rm"},"tracestate":{"a":"b"},"progressToken":1}}`, `{"_meta":{"traceparent":{"cmd":"rm"},"tracestate":{"a":"b"}}}`, 0},
		{"tools/call", `{"name":"n","_meta":{"baggage":"a=b"}}`, `{"_meta":{"baggage":"a=b"}}`, 0},
		{"tools/call", `{"name":"n","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c"},"io.modelcontextprotocol/clientCapabilities":{}}}`, ``, 0},
		{"tools/call", `{"name":"n","_meta":{"io.modelcontextprotocol/other":1,"a/b":2},"x":3}`, `{"_meta":{"io.modelcontextprotocol/other":1,"a/b":2},"x":3}`, 0},
	} {
		if c.from == 0 {
			c.from = ClientToServer
		}
		m, r := Read(parse(t, request(c.method, c.params, false)), c.from, "s")
		if r != nil || len(m.Calls) != 1 {
			t.Errorf("%s %s: %v", c.method, c.params, r)
		} else if got := string(m.Calls[0].Extra); got != c.want {
			t.Errorf("%s %s:\n got %s\nwant %s", c.method, c.params, got, c.want)
		}
	}
}

// What is not told must not differ either between two calls of one answer, but
// for the marks on one message.
func TestQuietTellsOtherValuesApart(t *testing.T) {
	quiet := func(meta string) uint64 {
		m, r := Read(parse(t, request("tools/call", `{"name":"n","_meta":{`+meta+`}}`, false)), ClientToServer, "s")
		if r != nil {
			t.Fatal(r)
		}
		return m.Calls[0].Quiet
	}
	const p = `"io.modelcontextprotocol/`
	seen := map[uint64]string{}
	for _, meta := range []string{
		``, p + `clientInfo":{"name":"a"}`, p + `clientInfo":{"name":"b"}`, p + `clientCapabilities":{"name":"a"}`,
		p + `logLevel":"debug"`, p + `logLevel":"debug",` + p + `clientInfo":{"name":"a"}`,
	} {
		q := quiet(meta)
		if other, known := seen[q]; known {
			t.Errorf("%s is as %s", meta, other)
		}
		seen[q] = meta
	}
	if quiet(p+`logLevel":"debug","progressToken":1`) != quiet(`"callId":"x1","progressToken":2,`+p+`logLevel":"debug"`) {
		t.Error("marks count")
	}
}

func TestExtraOfInputRequests(t *testing.T) {
	f := parse(t, `{"jsonrpc":"2.0","id":1,"result":{"inputRequests":{"a":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object"}}},"b":{"method":"roots/list","params":{"x":1}},"c":{"method":"roots/list"}}}}`)
	in, r := InputCalls(f, "s")
	if r != nil || len(in.Calls) != 3 {
		t.Fatal(r, in)
	}
	for i, want := range []string{`{"requestedSchema":{"type":"object"}}`, `{"x":1}`, ``} {
		if got := string(in.Calls[i].Extra); got != want {
			t.Errorf("%d: %s", i, got)
		}
	}
}
