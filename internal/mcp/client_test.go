package mcp

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

func TestWhoCanShowAForm(t *testing.T) {
	for capabilities, want := range map[string]bool{
		`{"elicitation":{}}`:                              true,
		`{"elicitation":{"form":{}}}`:                     true,
		`{"elicitation":{"form":{},"url":{}}}`:            true,
		`{"elicitation":{"later":{}}}`:                    true,
		`{"elicitation":{"form":{"applyDefaults":true}}}`: true,
		`{"elicitation":{"url":{}}}`:                      false,
		`{"elicitation":{"form":false}}`:                  false,
		`{"elicitation":true}`:                            false,
		`{"elicitation":null}`:                            false,
		`{"Elicitation":{}}`:                              false,
		`{"sampling":{}}`:                                 false,
		`{}`:                                              false,
		`[]`:                                              false,
	} {
		c := ClientOfInitialize([]byte(`{"protocolVersion":"2025-06-18","clientInfo":{"name":"n\u0041","version":"1"},"capabilities":` + capabilities + `}`))
		if c.Form != want || c.Name != "nA" || c.Version != "1" {
			t.Errorf("introduced with %s: %+v", capabilities, c)
		}
		meta := `"io.modelcontextprotocol/clientInfo":{"name":"m","version":5},"io.modelcontextprotocol/clientCapabilities":` + capabilities
		c = ClientOfRequest("tools/call", []byte(`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+meta+`}}`))
		if c.Form != want || c.Name != "m" || c.Version != "" {
			t.Errorf("carried with %s: %+v", capabilities, c)
		}
		for _, version := range []string{`"2027-01-01"`, `5`, `"2025-11-25"`} {
			if c := ClientOfRequest("tools/call", []byte(`{"_meta":{"io.modelcontextprotocol/protocolVersion":`+version+`,`+meta+`}}`)); c != (Client{}) {
				t.Errorf("version %s: %+v", version, c)
			}
		}
		if c := ClientOfRequest("completion/complete", []byte(`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+meta+`}}`)); c.Form {
			t.Error("a form in place of what cannot be answered with one")
		}
	}
	if ClientOfInitialize(nil) != (Client{}) || ClientOfRequest("prompts/get", nil) != (Client{}) {
		t.Error("nobody showed a form")
	}
	for version, want := range map[string]bool{
		"2024-11-05": false, "2025-03-26": false, "2025-06-18": true, "2025-11-25": true, "2026-07-28": false, "": false,
	} {
		if HasElicitation(version) != want {
			t.Errorf("%q: %v", version, !want)
		}
	}
}

const form = `{"type":"object","properties":{"a":{"type":"boolean"}}}`

// What the pump sends in its own name is a frame; from a server it would not pass.
// What a client calls itself is read from the message that begins a session, and bounded.
func TestNameClient(t *testing.T) {
	long := strings.Repeat("n", 300)
	for _, c := range []struct{ method, params, want string }{
		{"initialize", `{"clientInfo":{"name":"code","version":"1.2"}}`, "code 1.2"},
		{"initialize", `{"clientInfo":{"name":"code"}}`, "code"},
		{"initialize", `{"clientInfo":{"name":"` + long + `"}}`, long[:200] + "…"},
		{"initialize", `{}`, ""},
		{"server/discover", `{"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"code","version":"2"}}}`, "code 2"},
		{"tools/call", `{"clientInfo":{"name":"code"}}`, ""},
	} {
		if got := NameClient(c.method, []byte(c.params)); got != c.want {
			t.Errorf("%s %.40s: %q, want %q", c.method, c.params, got, c.want)
		}
	}
}

func TestFormsAreFrames(t *testing.T) {
	text := "a \"b\" \n <i> \u2028"
	legacy := parse(t, string(ElicitRequest([]byte(`"our-1"`), text, []byte(form))))
	m, refusal := Read(legacy, ServerToClient, "s")
	if refusal != nil || legacy.Kind != frame.Request || string(legacy.ID) != `"our-1"` ||
		m.Calls[0].Method != "elicitation/create" || m.Calls[0].Names[0] != text || m.Calls[0].Malformed != "" {
		t.Errorf("%s: %+v %v", legacy.Raw, m, refusal)
	}
	modern := parse(t, string(InputRequired([]byte("7"), `st"ate`, text, []byte(form))))
	in, refusal := InputCalls(modern, "s")
	if refusal != nil || len(in.Calls) != 1 || in.Keys[0] != formKey || in.Calls[0].Names[0] != text || in.Calls[0].Malformed != imitates {
		t.Errorf("%s: %+v %v", modern.Raw, in, refusal)
	}
	o := jsonscan.ValueOf(modern.Result)
	if o.Member("resultType").Text() != "input_required" || o.Member("requestState").Text() != `st"ate` {
		t.Errorf("%s", modern.Raw)
	}
	over := parse(t, string(CancelNotification([]byte(`"our-1"`), "over")))
	if m, refusal := Read(over, ServerToClient, "s"); refusal != nil || string(m.Cancels) != `"our-1"` {
		t.Errorf("%s: %v", over.Raw, refusal)
	}
}

func TestReadElicited(t *testing.T) {
	for result, want := range map[string]Elicited{
		`{"action":"accept","content":{"a":true}}`:         {Action: "accept", Content: []byte(`{"a":true}`)},
		`{"action":"\u0061ccept","content":{}}`:            {Action: "accept", Content: []byte(`{}`)},
		`{"action":"decline"}`:                             {Action: "decline"},
		`{"action":"cancel","content":{"a":1},"_meta":{}}`: {Action: "cancel"},
	} {
		for _, read := range []func() (Elicited, error){
			func() (Elicited, error) { return ReadElicited([]byte(result)) },
			func() (Elicited, error) { return ReadResponse([]byte(`{"other":{},"clawai":` + result + `}`)) },
		} {
			if got, err := read(); err != nil || got.Action != want.Action || string(got.Content) != string(want.Content) {
				t.Errorf("%s: %+v %v", result, got, err)
			}
		}
	}
	for _, result := range []string{
		``, `[]`, `{}`, `{"action":"accept"}`, `{"action":"accept","content":"yes"}`, `{"action":"ACCEPT","content":{}}`,
		`{"action":true,"content":{}}`, `{"Action":"accept","content":{}}`, `{"action":"decline","Action":"accept","content":{}}`,
		`{"action":"accept","content":{"a":1,"A":2}}`, `{"action":"accept","content":{"a":"` + strings.Repeat("x", maxContent) + `"}}`,
	} {
		if got, err := ReadElicited([]byte(result)); err == nil || got.Action != "" {
			t.Errorf("%.60s: %+v", result, got)
		}
	}
	for _, responses := range []string{``, `null`, `{}`, `{"Clawai":{"action":"accept","content":{}}}`, `[{"clawai":{}}]`} {
		if _, err := ReadResponse([]byte(responses)); err == nil {
			t.Errorf("%s was an answer", responses)
		}
	}
}

func TestSameCall(t *testing.T) {
	const call = `{"name":"n","arguments":{"a":1.0},"_meta":{"progressToken":1,"x/y":{"z":1}}}`
	for _, retry := range []string{
		call,
		`{"_meta":{"x/y":{"z":1}}, "arguments":{"a":1.0}, "name":"n"}`,
		`{"name":"n","arguments":{"a":1.0},"inputResponses":{"clawai":{}},"requestState":"s","_meta":{"progressToken":"2","traceparent":"t","tracestate":"u","baggage":"b","x/y":{"z":1}}}`,
		`{"n\u0061me":"n","arguments":{"a":1.0},"_meta":{"x/y":{"z":1}}}`,
	} {
		if !SameCall([]byte(call), []byte(retry)) {
			t.Errorf("not the same: %s", retry)
		}
	}
	for _, retry := range []string{
		``, `{}`,
		`{"name":"m","arguments":{"a":1.0},"_meta":{"x/y":{"z":1}}}`,
		`{"name":"n","arguments":{"a":1},"_meta":{"x/y":{"z":1}}}`,
		`{"name":"n","arguments":{"a":1.0,"b":2},"_meta":{"x/y":{"z":1}}}`,
		`{"name":"n","_meta":{"x/y":{"z":1}}}`,
		`{"name":"n","arguments":{"a":1.0},"_meta":{"x/y":{"z":2}}}`,
		`{"name":"n","arguments":{"a":1.0},"_meta":{}}`,
		`{"name":"n","arguments":{"a":1.0},"x/y":{"z":1}}`,
		`{"name":"n","arguments":{"a":1.0},"_meta":[]}`,
		`{"name":"n","arguments":{"a":1.0},"_meta":{"x/y":{"z":1}},"task":{}}`,
		`{"name":"n","arguments":{"a":1.0},"_meta":{"x/y":{"z":1},"Progresstoken":1}}`,
	} {
		if SameCall([]byte(call), []byte(retry)) || SameCall([]byte(retry), []byte(call)) {
			t.Errorf("the same: %s", retry)
		}
	}
	if !SameCall(nil, []byte(`{"requestState":"s"}`)) || SameCall([]byte(`{"_meta":1}`), []byte(`{"_meta":2}`)) {
		t.Error("edges")
	}
}
