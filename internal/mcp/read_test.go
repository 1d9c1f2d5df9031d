package mcp

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/policy"
	"github.com/google/go-cmp/cmp"
)

// rows is one real params for each method of the table, and the names the
// rules must see. A method of the table without a row here fails the test.
var rows = map[string]struct {
	params string
	names  []string
	args   string
}{
	"tools/call":               {`{"name":"read","arguments":{"path":"/p"},"task":{"ttl":60}}`, []string{"read"}, `{"path":"/p"}`},
	"resources/read":           {`{"uri":"file:///p"}`, []string{"file:///p"}, ""},
	"resources/subscribe":      {`{"uri":"file:///p"}`, []string{"file:///p"}, ""},
	"resources/unsubscribe":    {`{"uri":"file:///p"}`, []string{"file:///p"}, ""},
	"resources/directory/read": {`{"uri":"skill://a","cursor":"n"}`, []string{"skill://a"}, ""},
	"skills/get":               {`{"uri":"skill://a/SKILL.md"}`, []string{"skill://a/SKILL.md"}, ""},
	"subscriptions/listen":     {`{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:1","a:2"],"taskIds":["t"]}}`, []string{"a:1", "a:2"}, ""},
	"prompts/get":              {`{"name":"review","arguments":{"lang":"go"}}`, []string{"review"}, `{"lang":"go"}`},
	"sampling/createMessage":   {`{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"systemPrompt":"be kind","maxTokens":9}`, []string{"be kind", "hi"}, ""},
	"elicitation/create":       {`{"mode":"url","message":"log in","url":"https://x.test/","elicitationId":"e"}`, []string{"log in", "https://x.test/"}, ""},

	"tools/list":               {`{"cursor":"c"}`, []string{"tools/list"}, ""},
	"resources/list":           {``, []string{"resources/list"}, ""},
	"resources/templates/list": {`{}`, []string{"resources/templates/list"}, ""},
	"prompts/list":             {`{}`, []string{"prompts/list"}, ""},
	"skills/list":              {`{}`, []string{"skills/list"}, ""},
	"completion/complete":      {`{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"v"}}`, []string{"completion/complete"}, ""},
	"logging/setLevel":         {`{"level":"info"}`, []string{"logging/setLevel"}, ""},
	"roots/list":               {``, []string{"roots/list"}, ""},
	"tasks/get":                {`{"taskId":"t"}`, []string{"tasks/get"}, ""},
	"tasks/cancel":             {`{"taskId":"t"}`, []string{"tasks/cancel"}, ""},
	"tasks/result":             {`{"taskId":"t"}`, []string{"tasks/result"}, ""},
	"tasks/list":               {`{}`, []string{"tasks/list"}, ""},
	"tasks/update":             {`{"taskId":"t","inputResponses":{"k":{"action":"decline"}}}`, []string{"tasks/update"}, ""},

	"initialize":      {`{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`, nil, ""},
	"server/discover": {`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`, nil, ""},
	"ping":            {``, nil, ""},

	"notifications/progress":                   {`{"progressToken":1,"progress":0.5}`, nil, ""},
	"notifications/cancelled":                  {`{"requestId":1,"reason":"r"}`, nil, ""},
	"notifications/initialized":                {``, nil, ""},
	"notifications/roots/list_changed":         {``, nil, ""},
	"notifications/message":                    {`{"level":"info","data":"x"}`, nil, ""},
	"notifications/tools/list_changed":         {``, nil, ""},
	"notifications/prompts/list_changed":       {``, nil, ""},
	"notifications/resources/list_changed":     {``, nil, ""},
	"notifications/resources/updated":          {`{"uri":"file:///p"}`, nil, ""},
	"notifications/elicitation/complete":       {`{"elicitationId":"e"}`, nil, ""},
	"notifications/tasks/status":               {`{"taskId":"t","status":"working"}`, nil, ""},
	"notifications/subscriptions/acknowledged": {`{"notifications":{}}`, nil, ""},
	"notifications/tasks":                      {`{"taskId":"t","status":"completed","result":{}}`, nil, ""},
}

// era adds to params what a version's frames carry.
var eras = map[Version]string{
	V20241105: ``,
	V20250326: `"progressToken":1`,
	V20250618: `"progressToken":"p"`,
	V20251125: `"io.modelcontextprotocol/related-task":{"taskId":"t"}`,
	V20260728: `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`,
	Extension: `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`,
}

func request(method, params string, notification bool) string {
	id, members := `,"id":1`, ""
	if notification {
		id = ""
	}
	if params != "" {
		members = `,"params":` + params
	}
	return `{"jsonrpc":"2.0"` + id + `,"method":"` + method + `"` + members + `}`
}

func withMeta(params, meta string) string {
	switch {
	case meta == "" || strings.Contains(params, "_meta"):
		return params
	case params == "" || params == "{}":
		return `{"_meta":{` + meta + `}}`
	}
	return `{"_meta":{` + meta + `},` + params[1:]
}

func TestEveryMethodVersionAndDirection(t *testing.T) {
	for _, row := range Methods() {
		sample, ok := rows[row.Name]
		if !ok {
			t.Errorf("%s has no frame in this test", row.Name)
			continue
		}
		for version, meta := range eras {
			if row.In&version == 0 {
				continue
			}
			line := request(row.Name, withMeta(sample.params, meta), row.Notification)
			for _, d := range []Direction{ClientToServer, ServerToClient} {
				t.Run(fmt.Sprint(row.Name, version, d), func(t *testing.T) {
					m, r := Read(parse(t, line), d, "s")
					if row.From&d == 0 && !row.Notification {
						if r == nil || r.Code != "direction" {
							t.Fatalf("the wrong side was not refused: %+v", r)
						}
						return
					}
					if r != nil {
						t.Fatalf("%s: %+v", line, r)
					}
					if m.Class != row.Class || m.Method.Name != row.Name {
						t.Errorf("class %v of %v", m.Class, m.Method)
					}
					if modern := version >= V20260728; m.Modern != modern {
						t.Errorf("modern %v, want %v", m.Modern, modern)
					}
					var want []policy.Call
					if sample.names != nil {
						want = []policy.Call{{Server: "s", Method: row.Name, Subject: row.Subject, Names: sample.names}}
						if sample.args != "" {
							want[0].Args = []byte(sample.args)
						}
					}
					if diff := cmp.Diff(want, m.Calls, besideExtra); diff != "" {
						t.Errorf("%s\n%s", line, diff)
					}
				})
			}
			if r := refused(t, request(row.Name, sample.params, !row.Notification), row.From&ClientToServer|row.From&^ClientToServer&ServerToClient); r.Code != "kind" {
				t.Errorf("%s with the id of the other kind: %+v", row.Name, r)
			}
		}
	}
}

// refused is the refusal of a line, whichever room refuses it.
func refused(t *testing.T, line string, d Direction) *frame.Refusal {
	t.Helper()
	if d == Both {
		d = ClientToServer
	}
	f, err := frame.Parse([]byte(line), frame.DefaultLimits())
	if r := (*frame.Refusal)(nil); errors.As(err, &r) {
		return r
	}
	m, r := Read(&f, d, "s")
	if r == nil {
		t.Fatalf("%s was not refused: %+v", line, m)
	}
	if diff := cmp.Diff(Message{}, m, besideExtra); diff != "" {
		t.Errorf("a refusal came with a message: %s", diff)
	}
	return r
}

func TestDisguisedMethods(t *testing.T) {
	for _, method := range []string{
		"Tools/Call", "TOOLS/CALL", "tool\u017f/call", "tools/call ", " tools/call", `tools/call\t`, `tools/call\u0000`, `\u200btools/call`,
		`tools/\u202ecall`, "tools//call", "/tools/call", "tools/call/", "./tools/call", "tools/./call", "tools/x/../call",
		`tools\\call`, "tools%2fcall", "tools%2Fcall", "tools%252fcall", "tools/call.", "ｔｏｏｌｓ／ｃａｌｌ", "tools\u00a0/call",
		"Sampling/CreateMessage", "sampling/createmessage", "Initialize", "PING", "Notifications/Cancelled", `resources/read\uFE0F`,
	} {
		for _, notification := range []bool{false, true} {
			if r := refused(t, request(method, `{"name":"shell"}`, notification), ClientToServer); r.Code != "method_disguised" || r.Request == notification {
				t.Errorf("%s: %+v", method, r)
			}
		}
	}
	for method, code := range map[string]string{
		`vendor/x\u200b`: "method_hidden", `vendor\u0007`: "method_hidden", "vendor/x\u00a0": "method_hidden",
		strings.Repeat("v", 257): "method_long", strings.Repeat("%25", 100): "method_long",
	} {
		if r := refused(t, request(method, `{}`, false), ClientToServer); r.Code != code {
			t.Errorf("%s: %+v", method, r)
		}
	}
	if r := refused(t, request("notifications/vendor", ``, false), ClientToServer); r.Code != "kind" {
		t.Errorf("%+v", r)
	}
}

func TestMethodsOfNoVersionPass(t *testing.T) {
	for _, method := range []string{"vendor/x", "interceptors/list", "ui/initialize", "tools/callback", "my tools", "résumé/get", "a%zz", "日本/読む"} {
		m, r := Read(parse(t, request(method, `{"Name":"x"}`, false)), ServerToClient, "s")
		want := Message{Class: Pass, Calls: []policy.Call{{Server: "s", Method: method, Subject: policy.MethodSubject, Names: []string{method}}}}
		if diff := cmp.Diff(want, m, besideExtra); diff != "" || r != nil {
			t.Errorf("%s %+v", diff, r)
		}
		m, r = Read(parse(t, request(method, ``, true)), ClientToServer, "s")
		if diff := cmp.Diff(Message{Class: Pass}, m, besideExtra); diff != "" || r != nil {
			t.Errorf("%s %+v", diff, r)
		}
	}
}

func TestAmbiguousParamsAreRefused(t *testing.T) {
	wide := `"a0":0`
	for i := 1; i < 40; i++ {
		wide += fmt.Sprintf(`,"a%d":0`, i)
	}
	for _, c := range []struct{ method, params, code string }{
		{"tools/call", `{"Name":"shell"}`, frame.CodeFolded},
		{"tools/call", `{"name":"safe","NAME":"shell"}`, frame.CodeFolded},
		{"tools/call", `{"name":"safe","Arguments":{"a":1}}`, frame.CodeFolded},
		{"tools/call", `{"name":"safe","argument\u017f":{"a":1}}`, frame.CodeFolded},
		{"tools/call", `{"name":"safe","ta\u017f\u212a":1}`, frame.CodeFolded},
		{"tools/call", `{"name":"safe","x":1,"X":2}`, frame.CodeFolded},
		{"tools/call", `{"name":"safe","arguments":{"path":"/a","Path":"/b"}}`, frame.CodeFolded},
		{"tools/call", `{"name":"safe","arguments":{"a":[{"key":1,"\u212aey":2}]}}`, frame.CodeFolded},
		{"tools/call", `{"name":"safe","arguments":{` + wide + `,"A7":1}}`, frame.CodeFolded},
		{"tools/call", `{"name":"safe","arguments":{"A7":1,` + wide + `}}`, frame.CodeFolded},
		{"tools/call", `{"name":"safe","arguments":{"n":9007199254740992}}`, frame.CodeBigNumber},
		{"tools/call", `{"name":"safe","arguments":{"n":[-9007199254740993]}}`, frame.CodeBigNumber},
		{"tools/call", `{"name":"safe","arguments":{"n":123456789012345678901234567890}}`, frame.CodeBigNumber},
		{"tools/call", `{"name":"safe","arguments":{"n":1e400}}`, frame.CodeBigNumber},
		{"prompts/get", `{"name":"safe","arguments":{"a":"1","A":"2"}}`, frame.CodeFolded},
		{"resources/read", `{"uri":"file:///a","URI":"file:///b"}`, frame.CodeFolded},
		{"subscriptions/listen", `{"notifications":{"resourceSubscriptions":["a"],"taskIds":[],"taskIDs":[]}}`, frame.CodeFolded},
		{"subscriptions/listen", `{"notifications":{"ResourceSubscriptions":["a"]}}`, frame.CodeFolded},
		{"tasks/update", `{"taskId":"t","InputResponses":{}}`, frame.CodeFolded},
		{"vendor/x", `{"InputResponses":{}}`, frame.CodeFolded},
		{"notifications/cancelled", `{"RequestId":1}`, frame.CodeFolded},
	} {
		if r := refused(t, request(c.method, c.params, strings.HasPrefix(c.method, "notif")), ClientToServer); r.Code != c.code {
			t.Errorf("%s %s: %+v", c.method, c.params, r)
		}
	}
	for _, params := range []string{
		`{"messages":[{"role":"user","content":{"type":"text","text":"a","Text":"b"}}]}`,
		`{"messages":[{"role":"user","Role":"x","content":[]}]}`,
		`{"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"a","TEXT":"b"}]}]}]}`,
		`{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"a","URI":"b"}}}]}`,
	} {
		if r := refused(t, request("sampling/createMessage", params, false), ServerToClient); r.Code != frame.CodeFolded {
			t.Errorf("%s: %+v", params, r)
		}
	}
}

func TestOrdinaryParamsAreNotRefused(t *testing.T) {
	for _, c := range []struct {
		method, params string
		d              Direction
	}{
		{"tools/call", `{"name":"Read File","arguments":null}`, ClientToServer},
		{"tools/call", `{"name":"q","arguments":{"n":9007199254740991,"m":-9007199254740991,"f":1.5e300,"z":-0.0,"t":true}}`, ClientToServer},
		{"tools/call", `{"name":"q","_meta":{"a":1,"A":2}}`, ClientToServer},
		{"sampling/createMessage", `{"messages":[],"tools":[{"name":"t","inputSchema":{"properties":{"a":{},"A":{}}}}],"metadata":{"x":1,"X":2}}`, ServerToClient},
		{"sampling/createMessage", `{"messages":[{"role":"user","content":[{"type":"tool_use","id":"1","name":"t","input":{"a":"1","A":"2"}},{"type":"tool_result","toolUseId":"1","content":[],"structuredContent":{"b":1,"B":2}}]}]}`, ServerToClient},
		{"elicitation/create", `{"message":"m","requestedSchema":{"type":"object","properties":{"id":{},"ID":{}}}}`, ServerToClient},
	} {
		m, r := Read(parse(t, request(c.method, c.params, false)), c.d, "s")
		if r != nil || m.Calls[0].Malformed != "" {
			t.Errorf("%s %s: %+v %+v", c.method, c.params, r, m.Calls)
		}
	}
}
