package hook_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clawai/clawai/proxy/hook/client"
)

// A call that a client's model asks for is, to the rules, the call that the client's hook would
// have shown: for every recorded payload of a client whose model clawai stands before.
func TestModelCallsAreHooksCalls(t *testing.T) {
	compared := 0
	for _, id := range []string{"claude-code", "codex", "gemini-cli", "qwen-code", "copilot-cli", "opencode"} {
		row := client.FindRow(id)
		files, err := filepath.Glob("testdata/payloads/" + id + "/*.json")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			payload, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			req, err := row.Read(payload, "")
			if err != nil || req.Event.Kind != client.Before || req.Row.ID != id {
				continue
			}
			var said struct {
				Name  string          `json:"tool_name"`
				Input json.RawMessage `json:"tool_input"`
				Other string          `json:"toolName"`
				Args  json.RawMessage `json:"toolArgs"`
			}
			if err := json.Unmarshal(payload, &said); err != nil {
				t.Fatal(err)
			}
			m := client.ModelCall{Session: req.Session, ID: req.Call, Tool: said.Name + said.Other, Args: append(said.Input, said.Args...), Cwd: req.Cwd}
			if len(m.Args) > 0 && m.Args[0] == '"' { // a text: a patch, or JSON
				var text string
				if err := json.Unmarshal(m.Args, &text); err != nil {
					t.Fatal(err)
				}
				if m.Args = nil; text[0] == '{' {
					m.Args = []byte(text)
				} else {
					m.Text, m.Free = text, true
				}
			}
			got, err := row.ReadModelCall(m)
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			if got.HasSpelledServer() { // the hook gets the server's name apart, or both look it up in the client's files
				got.NarrowServers([]string{req.Calls[0].Server}, nil)
				req.NarrowServers([]string{req.Calls[0].Server}, nil)
			}
			if diff := cmp.Diff(req.Calls, got.Calls); diff != "" || got.MCP != req.MCP {
				t.Errorf("%s (-hook +model):\n%s", file, diff)
			}
			compared++
		}
	}
	if compared < 20 {
		t.Errorf("%d calls compared", compared)
	}
	t.Logf("%d calls compared", compared)
}
