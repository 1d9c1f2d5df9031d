package model_test

import (
	"crypto/sha256"
	"net/http"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/proxy/model"
)

const hostedRules = `
[[rule]]
action = "deny"
tool = "websearch"
description = "No search"

[[rule]]
action = "deny"
tool = "code_*"
`

// A tool that the service of the model would run, and a rule denies, is not offered to the model. The rest of the
// request stays as it is, and it is on record once.
func TestHostedTools(t *testing.T) {
	const conversation = `"messages":[],"input":[],"contents":[]`
	for _, tt := range []struct{ id, path, tools, want string }{
		{"claude-code", "/v1/messages", `[{"type":"web_search_20250305","name":"web_search"}]`, `[]`},
		{"claude-code", "/v1/messages", `[ {"name":"Bash"},  {"type":"web_search_20250305","name":"web_search"} , {"type":"bash_20250124"} ]`, `[ {"name":"Bash"} , {"type":"bash_20250124"} ]`},
		{"claude-code", "/v1/messages", `[{"type":"web_search_20250305"},{"type":"code_execution_20250825"}, {"name":"a"},{"name":"b"}]`, `[ {"name":"a"},{"name":"b"}]`},
		{"claude-code", "/v1/messages", `[{"type":"web_fetch_20250910","name":"web_fetch"}]`, ``},
		{"claude-code", "/v1/messages", `[{"name":"web_search","type":"custom"}]`, ``},
		{"codex", "/v1/responses", `[{"type":"function","name":"a"},{"type":"code_interpreter"}]`, `[{"type":"function","name":"a"}]`},
		{"codex", "/v1/responses", `[{"type":"web_search"},{"type":"image_generation"}]`, `[{"type":"image_generation"}]`},
		{"gemini-cli", "/v1beta/models/m:generateContent", `[{"functionDeclarations":[]},{"codeExecution":{}}]`, `[{"functionDeclarations":[]}]`},
	} {
		for _, judge := range []bool{true, false} {
			s := makeHostedSite(t, tt.id, judge)
			s.reply = func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "application/json") }
			body := `{` + conversation + `, "tools" : ` + tt.tools + ` }`
			want := body
			if tt.want != "" && judge {
				want = `{` + conversation + `, "tools" : ` + tt.want + ` }`
			}
			for range 2 {
				s.post(tt.path, body)
				if got := s.bodies[len(s.bodies)-1]; got != want {
					t.Errorf("%s, judge %v: the service reads\n%s, not\n%s", tt.id, judge, got, want)
				}
			}
			denied := s.record.count(func(ev *event.Event) bool { return ev.Kind == event.Decision && ev.Decision == "deny" })
			if most := strings.Count(tt.tools, "_20") + 1; tt.want != "" && judge != (denied > 0) || denied > most {
				t.Errorf("%s, judge %v: %d denials on record", tt.tools, judge, denied)
			}
		}
	}
}

// What cannot be taken out makes the request fail, in the words of the service.
func TestHostedToolsThatStay(t *testing.T) {
	for _, tt := range []struct{ id, path, body string }{
		{"gemini-cli", "/v1beta/models/m:generateContent", `{"contents":[],"tools":[{"functionDeclarations":[],"codeExecution":{}}]}`},
		{"qwen-code", "/v1/chat/completions", `{"messages":[],"web_search_options":{}}`},
	} {
		s := makeHostedSite(t, tt.id, true)
		s.reply = func(http.ResponseWriter, *http.Request) {}
		if got := s.post(tt.path, tt.body); got.status != http.StatusBadRequest || !strings.Contains(got.body, "cannot be taken out of the request") || len(s.bodies) > 0 {
			t.Errorf("%s: %d %s", tt.id, got.status, got.body)
		}
	}
}

// A request that cannot be read may offer any tool of the service: it is refused, in the words of the service,
// where a rule denies one. Else it goes on, on record as not looked at.
func TestHostedToolsInWhatIsNotRead(t *testing.T) {
	for _, one := range services {
		for _, tt := range []struct{ name, body, coding string }{
			{"another encoding", `{"messages":[],"input":[],"contents":[]}`, "compress"},
			{"gzip that is none", `{"messages":[],"input":[],"contents":[]}`, "gzip"},
			{"a member twice", `{"messages":[],"input":[],"contents":[],"tools":[],"tools":["web_search_20250305","web_search_options","googleSearch"]}`, ""},
			{"a member twice, with escapes", `{"messages":[],"input":[],"contents":[],"tools":[],"tools":[{"type":"\u0077eb_search_20250305"},{"\u0067oogleSearch":{}}]}`, ""},
			{"no JSON", `model=m`, ""},
		} {
			for _, rules := range []string{hostedRules, ""} {
				s := makeRuledSite(t, one.client, true, rules)
				s.reply = answerWith(t, one.whole(nil), "", false)
				got := s.post(one.path, tt.body, "Content-Encoding", tt.coding)
				if s.record.count(isUnread) != 1 {
					t.Errorf("%s, %s: %d times not looked at", one.api, tt.name, s.record.count(isUnread))
				}
				switch denied := s.record.count(func(ev *event.Event) bool { return ev.Kind == event.Decision && ev.Decision == "deny" }); {
				case rules == "":
					if got.status != http.StatusOK || len(s.bodies) != 1 || s.bodies[0] != tt.body || denied != 0 {
						t.Errorf("%s, %s: %d %s", one.api, tt.name, got.status, got.body)
					}
				case got.status != http.StatusBadRequest || !strings.HasPrefix(strings.ReplaceAll(got.body, `"type":"error",`, ""), `{"error":{`) || !strings.Contains(got.body, "cannot read whether") || denied != 1:
					t.Errorf("%s, %s: %d %s, %d denials on record", one.api, tt.name, got.status, got.body, denied)
				}
				if rules != "" && len(s.bodies) != 0 && tt.name != "no JSON" { // what holds no tool goes while it is looked at
					t.Errorf("%s, %s went to the service", one.api, tt.name)
				}
			}
		}
	}
}

// A request whose tools can be read offers what they say, also if its conversation cannot be read: it goes on
// without what a rule denies.
func TestHostedToolsBesideWhatIsNotRead(t *testing.T) {
	const hosted = `{"type":"web_search_20250305"}`
	for _, tt := range []struct{ id, path, before, tools, want string }{
		{"claude-code", "/v1/messages", `"messages":[{"role":"user","content":[{"type":"text","text":"a","Text":"b"}]}]`, `[` + hosted + `,{"name":"a"}]`, `[{"name":"a"}]`},
		{"claude-code", "/v1/messages", `"model":"m"`, `[{"name":"a"}]`, `[{"name":"a"}]`},
		{"codex", "/v1/responses", `"previous_response_id":"r"`, `[{"type":"web_search"}]`, `[]`},
		{"codex", "/v1/responses", `"input":["a"]`, `[]`, `[]`},
		{"gemini-cli", "/v1beta/models/m:generateContent", `"contents":{"parts":[{"text":"x"}]}`, `[{"codeExecution":{}}]`, `[]`},
		{"gemini-cli", "/v1beta/models/m:generateContent", `"contents":[{"parts":{"text":"x"}}]`, `[{"functionDeclarations":[]}]`, `[{"functionDeclarations":[]}]`},
		{"qwen-code", "/v1/chat/completions", `"messages":[0]`, `[]`, `[]`},
	} {
		for _, rules := range []string{"", uploadWords} {
			s := makeRuledSite(t, tt.id, true, hostedRules+rules)
			s.reply = func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "application/json") }
			got := s.post(tt.path, `{`+tt.before+`,"tools":`+tt.tools+`}`)
			want := `{` + tt.before + `,"tools":` + tt.want + `}`
			switch {
			case s.record.count(isUnread) != 1:
				t.Errorf("%s: %d times not looked at", tt.before, s.record.count(isUnread))
			case rules != "": // it may hold what must not go
				if got.status != http.StatusBadRequest || len(s.bodies) != 0 {
					t.Errorf("%s: %d %s", tt.before, got.status, got.body)
				}
			case got.status != http.StatusOK || len(s.bodies) != 1 || s.bodies[0] != want:
				t.Errorf("%s: %d %s, the service reads %q", tt.before, got.status, got.body, s.bodies)
			}
		}
	}
}

const uploadWords = `
[[rule]]
action = "deny"
on = "upload"
find = ["secret"]
`

func makeHostedSite(t *testing.T, id string, judge bool) *site {
	t.Helper()
	return makeRuledSite(t, id, judge, hostedRules)
}

// Of each message that goes on with other bytes both digests are on record.
func TestEditsAreRecorded(t *testing.T) {
	for _, streamed := range []bool{true, false} {
		service := services[0]
		s := newSite(t, service.client, true, nil)
		calls := []asked{service.touch("denied-a"), service.touch("allowed")}
		came := service.whole(calls)
		kind := "application/json"
		if streamed {
			came, kind = service.streamed(calls, true), "text/event-stream"
		}
		s.reply = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write([]byte(came))
		}
		got := s.post(service.path, empty)
		edits := s.record.list(func(ev *event.Event) bool { return ev.Method == model.EditedMethod })
		if len(edits) != 1 || edits[0].Altered[0] != "rename Bash" {
			t.Fatalf("%+v", edits)
		}
		if !streamed && (edits[0].Digest != sha256.Sum256([]byte(came)) || edits[0].Sent != sha256.Sum256([]byte(got.body))) {
			t.Error("other digests")
		}
		if edits[0].Digest == edits[0].Sent {
			t.Error("one digest")
		}
		name := deniedName.FindString(got.body)
		s.record.forget()
		body := `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"toolu_0","name":"` + name + `","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_0","content":"no such tool"}]}]}`
		s.post(service.path, body)
		edits = s.record.list(func(ev *event.Event) bool { return ev.Method == model.EditedMethod && ev.Direction == "client" })
		if len(edits) != 1 || edits[0].Digest != sha256.Sum256([]byte(body)) || edits[0].Sent != sha256.Sum256([]byte(s.bodies[len(s.bodies)-1])) {
			t.Errorf("%+v", edits)
		}
	}
}
