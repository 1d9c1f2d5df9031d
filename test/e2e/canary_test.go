//go:build e2e

package e2e

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/wrap/client"
)

// TestCanary has clawai doctor try the real clients: each heeds the hook that wrap wrote,
// none of the owner's files changes, and nothing is left of it.
func TestCanary(t *testing.T) {
	for _, tt := range []struct {
		client, settings, text string
		wrap                   []string
		reviewed               bool
		want                   string
	}{
		{client: "claude-code", settings: ".claude/settings.json", text: `{"mcpServers": {}}`, want: "enforced"},
		{client: "claude-code", settings: ".claude/settings.json", text: `{}`, wrap: []string{"--observe"}, want: "unheeded"},
		{client: "codex", settings: ".codex/config.toml", text: otherCodex, reviewed: true, want: "enforced"},
		{client: "codex", settings: ".codex/config.toml", text: otherCodex, want: "never-fired"},
		{client: "gemini", settings: ".gemini/settings.json", text: otherGemini, want: "enforced"},
		{client: "gemini", settings: ".gemini/settings.json", text: `{}`, wrap: []string{"--observe"}, want: "unheeded"},
		{client: "copilot-cli", settings: ".copilot/mcp-config.json", text: `{"mcpServers": {"theirs": {"command": "touch", "args": ["started"]}}}`, want: "enforced"},
		{client: "cline", settings: ".cline/data/settings/cline_mcp_settings.json", text: `{"mcpServers": {}}`, want: "enforced"},
		{client: "qwen", settings: ".qwen/settings.json", text: otherQwen, want: "enforced"},
		{client: "qwen", settings: ".qwen/settings.json", text: `{}`, wrap: []string{"--observe"}, want: "unheeded"},
		{client: "opencode", settings: ".config/opencode/opencode.json", text: `{"mcp": {"theirs": {"type": "local", "command": ["touch", "started"]}}}`, want: "enforced"},
		{client: "kimi", settings: ".kimi-code/config.toml", text: otherKimi, want: "enforced"},
	} {
		t.Run(tt.client+" "+tt.want, func(t *testing.T) {
			t.Parallel()
			all := allAgents()
			a := all[slices.IndexFunc(all, func(a agent) bool { return a.id == tt.client })]
			a.vars, a.before, a.files = nil, nil, map[string]string{tt.settings: tt.text}
			s := newAgentSite(t, a, "", agentRules)
			clawai := filepath.Join(s.bin, "clawai")
			if tt.wrap != nil {
				s.must(append([]string{clawai, "wrap", "--hooks", tt.client, "--yes"}, tt.wrap...)...)
			}
			program := s.install(a)
			s.env = append(s.env, "PATH="+s.bin+":"+os.Getenv("PATH"), "ANTHROPIC_BASE_URL=https://gateway.example", "OPENAI_API_KEY=real", "GEMINI_API_KEY=real")
			if tt.reviewed {
				s.review(program)
			}
			before := s.files()
			out, err := s.run(clawai, "doctor", "--canary", tt.client, "--json")
			var d struct {
				Findings []struct {
					Canary *struct {
						Verdict, Why string
						Allowed      struct{ Ran bool }
					}
				}
			}
			if json.Unmarshal([]byte(out), &d) != nil || len(d.Findings) == 0 || d.Findings[0].Canary == nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if c := d.Findings[0].Canary; c.Verdict != tt.want || !c.Allowed.Ran || (err == nil) != (tt.want == "enforced") {
				t.Errorf("%v\n%s", err, out)
			}
			if after := s.files(); after != before {
				t.Errorf("the owner's files were\n%s\nand are\n%s", before, after)
			}
		})
	}
}

// install puts the client's program where a person has it, with the Node that it needs.
func (s *agentSite) install(a agent) (program string) {
	s.t.Helper()
	rows, err := client.HookRows()
	if err != nil {
		s.t.Fatal(err)
	}
	name := rows[slices.IndexFunc(rows, func(r client.HookRow) bool { return r.Client == a.id })].Probe[0]
	words := a.command
	if words[0] == nodeProgram {
		s.link(nodeProgram, "node")
		words = words[1:]
	}
	return s.link(words[0], name)
}

func (s *agentSite) link(program, name string) string {
	s.t.Helper()
	program, err := filepath.Abs(program)
	if err == nil {
		err = os.Symlink(program, filepath.Join(s.bin, name))
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return program
}

// What would start servers and reach others, were it heeded.
const (
	otherCodex = `model = "theirs"
model_provider = "theirs"
[model_providers.theirs]
name = "theirs"
base_url = "https://gateway.example/v1"
[mcp_servers.theirs]
command = "touch"
args = ["started"]
`
	otherQwen = `{
  "modelProviders": { "openai": [{ "id": "theirs", "baseUrl": "https://gateway.example/v1" }] },
  "model": { "name": "theirs" },
  "mcpServers": { "theirs": { "command": "touch", "args": ["started"] } }
}
`
	otherKimi = `default_model = "theirs"
[providers.theirs]
type = "openai"
base_url = "https://gateway.example/v1"
api_key = "real"
[models.theirs]
provider = "theirs"
model = "theirs"
max_context_size = 100000
`
	otherGemini = `{
  // An account
  "security": { "auth": { "selectedType": "oauth-personal" } },
  "mcpServers": { "theirs": { "command": "touch", "args": ["started"] } }
}
`
)

// files are all that is below the home folder, with what is in it.
func (s *agentSite) files() string {
	var all strings.Builder
	err := filepath.WalkDir(s.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			all.WriteString(path + "\n")
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s %x\n", path, sha256.Sum256(text))
		return err
	})
	if err != nil {
		s.t.Error(err)
	}
	return all.String()
}

// review trusts every hook that Codex knows, as its person does in /hooks.
func (s *agentSite) review(program string) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), program, "app-server")
	cmd.Env, cmd.Dir = append(slices.Clone(s.env), "CODEX_HOME="+s.path(".codex")), s.home
	in, err := cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	fmt.Fprintf(in, "%s\n%s\n%s\n", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"name":"e2e","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"initialized"}`, fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"hooks/list","params":{"cwds":[%q]}}`, s.home))
	var text strings.Builder
	for answers := json.NewDecoder(out); ; {
		var answer struct {
			ID     int
			Result struct {
				Data []struct {
					Hooks []struct{ Key, CurrentHash string }
				}
			}
		}
		if err := answers.Decode(&answer); err != nil {
			s.t.Fatal(err)
		}
		if answer.ID != 2 {
			continue
		}
		for _, h := range answer.Result.Data[0].Hooks {
			fmt.Fprintf(&text, "[hooks.state.%q]\ntrusted_hash = %q\n", h.Key, h.CurrentHash)
		}
		break
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		s.t.Error(err)
	}
	s.write(".codex/config.toml", otherCodex+text.String())
}
