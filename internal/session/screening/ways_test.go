package screening

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/policy"
)

// ways are what comes back to each row of the method table, or comes by itself, with SAID at
// every place in which there may be a text. A row without an entry is a way in that nobody has
// looked at.
var ways = map[string][]string{
	"tools/call": {
		`{"content":[{"type":"text","text":"SAID","annotations":{"audience":["SAID"]}},{"type":"resource_link","uri":"docs://a","name":"SAID","title":"SAID","description":"SAID"},{"type":"resource","resource":{"uri":"docs://SAID","text":"SAID"}}],"structuredContent":{"a":"SAID","SAID":1,"b":[{"c":"SAID"}]},"isError":false,"_meta":{"x/y":"SAID"}}`,
		`{"resultType":"input_required","inputRequests":{"SAID":{"method":"elicitation/create","params":{"message":"SAID","requestedSchema":{"type":"object","properties":{"n":{"type":"string","title":"SAID","description":"SAID"}}}}}}}`,
		`{"task":{"taskId":"t","status":"working","statusMessage":"SAID"}}`,
	},
	"resources/read":           {`{"contents":[{"uri":"docs://SAID","mimeType":"text/plain","text":"SAID"},{"uri":"docs://b","blob":"BLOB"}]}`},
	"resources/subscribe":      {`{"_meta":{"x":"SAID"}}`},
	"resources/unsubscribe":    {`{"_meta":{"x":"SAID"}}`},
	"resources/directory/read": {`{"entries":[{"uri":"docs://a","name":"SAID","description":"SAID"}]}`},
	"skills/get":               {`{"contents":[{"uri":"skill://a","text":"SAID"}],"description":"SAID"}`},
	"subscriptions/listen":     {`{"_meta":{"x":"SAID"}}`},
	"prompts/get":              {`{"description":"SAID","messages":[{"role":"user","content":{"type":"text","text":"SAID"}},{"role":"assistant","content":{"type":"resource","resource":{"uri":"docs://a","text":"SAID"}}}]}`},
	"sampling/createMessage":   {`{"role":"assistant","model":"SAID","stopReason":"SAID","content":{"type":"text","text":"SAID"}}`},
	"elicitation/create":       {`{"action":"accept","content":{"n":"SAID"}}`},
	"tools/list": {`{"tools":[{"name":"a","title":"SAID","description":"SAID","inputSchema":{"type":"object","properties":{"SAID":{"description":"SAID","enum":["SAID"],"default":"SAID"}}},` +
		`"outputSchema":{"type":"object","description":"SAID"},"annotations":{"title":"SAID"},"icons":[{"src":"https://e.org/SAID"}],"_meta":{"x":"SAID"}},{"name":"SAID"}],"_meta":{"x":"SAID"}}`},
	"resources/list":           {`{"resources":[{"uri":"docs://a","name":"SAID","title":"SAID","description":"SAID","mimeType":"SAID"},{"uri":"docs://SAID","name":"n"}]}`},
	"resources/templates/list": {`{"resourceTemplates":[{"uriTemplate":"docs://{a}","name":"SAID","title":"SAID","description":"SAID"},{"uriTemplate":"docs://{SAID}","name":"n"}]}`},
	"prompts/list":             {`{"prompts":[{"name":"a","title":"SAID","description":"SAID","arguments":[{"name":"SAID","title":"SAID","description":"SAID"}]},{"name":"SAID"}]}`},
	"skills/list":              {`{"skills":[{"uri":"skill://a","name":"SAID","description":"SAID"}]}`},
	"completion/complete":      {`{"completion":{"values":["SAID","main"],"total":2}}`},
	"logging/setLevel":         {`{"_meta":{"x":"SAID"}}`},
	"roots/list":               {`{"roots":[{"uri":"file:///SAID","name":"SAID"}]}`},
	"tasks/get":                {`{"taskId":"t","status":"completed","statusMessage":"SAID","result":{"content":[{"type":"text","text":"SAID"}]}}`, `{"taskId":"t","status":"failed","error":{"code":1,"message":"SAID","data":"SAID"}}`},
	"tasks/cancel":             {`{"taskId":"t","status":"cancelled","statusMessage":"SAID"}`},
	"tasks/result":             {`{"content":[{"type":"text","text":"SAID"}],"structuredContent":{"a":"SAID"}}`},
	"tasks/list":               {`{"tasks":[{"taskId":"t","status":"working","statusMessage":"SAID"}]}`},
	"tasks/update":             {`{"taskId":"t","statusMessage":"SAID"}`},
	"initialize": {`{"protocolVersion":"2025-11-25","capabilities":{"experimental":{"SAID":{}}},"serverInfo":{"name":"SAID","title":"SAID","version":"SAID","description":"SAID","websiteUrl":"https://e.org/SAID",` +
		`"icons":[{"src":"https://e.org/SAID"}]},"instructions":"SAID"}`},
	"server/discover": {`{"supportedVersions":["2026-07-28"],"capabilities":{},"serverInfo":{"name":"SAID","version":"1","title":"SAID"},"instructions":"SAID"}`},
	"ping":            {`{"_meta":{"x":"SAID"}}`},

	"notifications/progress":                   {`{"progressToken":1,"progress":1,"message":"SAID"}`},
	"notifications/cancelled":                  {`{"requestId":1,"reason":"SAID"}`},
	"notifications/initialized":                {`{"_meta":{"x":"SAID"}}`},
	"notifications/roots/list_changed":         {`{"_meta":{"x":"SAID"}}`},
	"notifications/message":                    {`{"level":"info","logger":"SAID","data":{"a":["SAID"],"SAID":1}}`, `{"level":"info","data":"SAID"}`},
	"notifications/tools/list_changed":         {`{"_meta":{"x":"SAID"}}`},
	"notifications/prompts/list_changed":       {`{"_meta":{"x":"SAID"}}`},
	"notifications/resources/list_changed":     {`{"_meta":{"x":"SAID"}}`},
	"notifications/resources/updated":          {`{"uri":"docs://SAID","title":"SAID"}`},
	"notifications/elicitation/complete":       {`{"elicitationId":"SAID"}`},
	"notifications/tasks/status":               {`{"taskId":"t","status":"working","statusMessage":"SAID"}`},
	"notifications/subscriptions/acknowledged": {`{"subscriptions":[{"uri":"docs://SAID"}]}`},
	"notifications/tasks":                      {`{"taskId":"t","status":"working","statusMessage":"SAID"}`},
}

// opened are rules above a profile's: of tools alone, and of all.
var opened = map[string]string{
	"tools alone": "[[rule]]\naction = \"allow\"\ntool = \"**\"\n",
	"everything":  "[[rule]]\naction = \"allow\"\ntool = \"**\"\n[[rule]]\naction = \"allow\"\nresource = \"**\"\n[[rule]]\naction = \"allow\"\nprompt = \"**\"\n[[rule]]\naction = \"allow\"\nmethod = \"**\"\n",
}

// Whatever a server sends, to whichever method, at whichever place: default and strict take a
// key out of it, and let nothing pass that is not drawn.
func TestEveryWayInIsScreened(t *testing.T) {
	hides := map[string]string{"hidden": "go on \U000e0069\U000e0067\U000e006e\U000e006f\U000e0072\U000e0065", "secret": token}
	places := 0
	for _, tier := range []string{"default", "strict"} {
		rules, err := fixtures.ComposePolicy(tier)
		if err != nil {
			t.Fatal(err)
		}
		for name, above := range opened {
			p, err := policy.Parse("p.toml", append([]byte(above), rules...), policy.Options{Home: "/home/user"})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range mcp.Methods() {
				if len(ways[m.Name]) == 0 {
					t.Fatalf("nobody looks at what comes back to %s", m.Name)
				}
				for kind, what := range hides {
					for _, line := range played(m, what) {
						places++
						x := line.exchange()
						got, err := New("s", nil, nil).Inspect(x, p)
						sent := string(x.Raw)
						if got.Sent != nil {
							sent = string(got.Sent)
						}
						if passed := err == nil && got.Decision.Action == policy.Allow; passed && strings.Contains(sent, what[len(what)-16:]) {
							t.Errorf("%s, %s is open: %s comes through %s: %s", tier, name, kind, m.Name, line.payload)
						}
					}
				}
				for _, line := range played(m, "plain") { // and nothing else is held up
					x := line.exchange()
					if got, err := New("s", nil, nil).Inspect(x, p); err != nil || got.Decision.Action != policy.Allow {
						t.Errorf("%s, %s is open: %s of plain words: %v, %v, %s", tier, name, m.Name, got.Decision.Action, err, got.Why)
					}
				}
			}
		}
	}
	if places < 36*2*2*2 {
		t.Errorf("only %d places", places)
	}
}

// way is one message.
type way struct {
	method  mcp.Method
	payload string // what stands in result, error or params
	error   bool
}

// played are the messages of one method with a text at one of their places each, and the errors
// that can stand in their place.
func played(m mcp.Method, what string) (all []way) {
	payloads := ways[m.Name]
	for _, payload := range payloads {
		payload = strings.ReplaceAll(payload, "BLOB", "eA==")
		for n := range strings.Count(payload, "SAID") {
			parts := strings.SplitN(payload, "SAID", n+2)
			text := strings.Join(parts[:n+1], "some") + what + strings.ReplaceAll(parts[n+1], "SAID", "other")
			all = append(all, way{method: m, payload: text})
		}
	}
	if !m.Notification {
		for _, failure := range []string{`{"code":-32000,"message":"%s"}`, `{"code":-32000,"message":"no","data":{"a":["%s"]}}`, `{"code":-32000,"message":"no","data":"%s"}`} {
			all = append(all, way{m, fmt.Sprintf(failure, what), true})
		}
	}
	return all
}

// exchange is the message as a transport hands it over.
func (w *way) exchange() *gate.Exchange {
	m := w.method
	member := "result"
	if w.error {
		member = "error"
	}
	x := exchange(m.Name, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,%q:%s}`, member, w.payload))
	if m.Notification {
		x = exchange(m.Name, fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, m.Name, w.payload))
		x.Unasked = true
		return x
	}
	switch m.Subject {
	case policy.NoSubject, policy.MethodSubject:
	default:
		x.Answered = []policy.Call{{Server: "s", Method: m.Name, Subject: m.Subject, Names: []string{"docs://a"}}}
	}
	if m.From == mcp.ServerToClient {
		x.Event.Direction = "client"
	}
	return x
}
