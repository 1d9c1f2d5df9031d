//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/scripted"
)

var opencode = agent{
	id: "opencode", shell: "bash", argument: "command",
	command: []string{"node_modules/opencode-linux-x64-baseline/bin/opencode", "run", "--model", "anthropic/scripted", "go on"},
	vars:    []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"},
	files: map[string]string{".config/opencode/opencode.json": `{
  "provider": {
    "anthropic": {
      "options": { "baseURL": "ADDRESS/v1", "apiKey": "none" },
      "models": { "scripted": { "name": "scripted", "tool_call": true, "limit": { "context": 200000, "output": 8000 } } }
    }
  },
  "permission": { "bash": "allow", "edit": "allow", "webfetch": "allow" }
}
`},
	folder: ".config/opencode",
}

// TestOpencode has opencode run its shell behind the plugin that wrap --hooks wrote: what
// the policy denies does not run, nor does anything when clawai-hook is gone.
func TestOpencode(t *testing.T) {
	var s agentSite
	model := &scripted.Model{}
	ran := func(n int) bool {
		_, err := os.Stat(s.path([]string{"projects/allowed", "projects/denied", "projects/gone"}[n]))
		return err == nil
	}
	model.Before = func(n int) {
		if n == 2 {
			if err := os.Remove(filepath.Join(s.bin, "clawai-hook")); err != nil {
				t.Error(err)
			}
		}
	}
	model.After = func(n int, answer string) {
		if ran(n) != (n == 0) {
			t.Errorf("call %d ran: %v; it was told %s", n, ran(n), answer)
		}
		if want := []string{"", "Refused by the owner's policy", "clawai-hook cannot be run"}[n]; !strings.Contains(answer, want) {
			t.Errorf("call %d was told %s", n, answer)
		}
	}
	s = newAgentSite(t, opencode, serve(t, model), "[[rule]]\naction = \"allow\"\ntool = \"shell\"\nargs.command = \"touch allowed\"\n")
	for _, file := range []string{"allowed", "denied", "gone"} {
		model.Turns = append(model.Turns, scripted.Turn{Tool: "bash", Args: object{"command": "touch " + file, "description": "touch"}})
	}
	s.play()
	if model.Asked() != len(model.Turns)+1 {
		t.Errorf("the model was asked for %d of %d calls", model.Asked(), len(model.Turns)+1)
	}
	var decisions []string
	for _, line := range strings.Split(strings.TrimSpace(s.must(clawai, "log", "--json", "--kind", "decision")), "\n") {
		var d struct{ Server, Decision string }
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		decisions = append(decisions, d.Server+" "+d.Decision)
	}
	if got := strings.Join(decisions, ", "); got != "opencode allow, opencode deny" {
		t.Errorf("recorded %s", got)
	}
	s.must(clawai, "unwrap", "--hooks", "opencode", "--yes")
	if _, err := os.Stat(s.path(".config/opencode/plugin/clawai.js")); err == nil {
		t.Error("the plugin is still there")
	}
}
