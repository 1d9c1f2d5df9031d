//go:build e2e

package e2e

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// agent is a real client with hooks, in a mode in which it runs every tool unasked.
type agent struct {
	id       string // as clawai wrap --hooks names it
	shell    string // its tool that runs a command
	argument string // the command, to that tool
	command  []string
	vars     []string
	files    map[string]string // in the home folder; ADDRESS is put in
	folder   string            // that is there where the client is
	more     object            // other arguments of the shell
	list     bool              // its shell takes a list of commands
	before   []string          // a command that the client wants first
	daemon   string            // a word of what it leaves running
	stops    bool              // a denial ends its run: it knows no other no
	limit    string            // how long it waits for a hook, as its entry says it; "" where that cannot be set
	short    string            // the same, and short
	slow     string            // what is known where it cannot be set
	helper   helper            // by which it starts an agent of its own
}

// helper is the tool of an agent that starts another.
type helper struct {
	tool   string
	prompt string // what that one is to do, to the tool
	more   object
	last   string // what the other must call to come back
}

// Programs whose main packages choose among six of them, or link them by a script.
const (
	claudeProgram = "node_modules/@anthropic-ai/claude-code-linux-x64/claude"
	codexProgram  = "node_modules/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"
)

var claude = agent{
	id: "claude-code", shell: "Bash", argument: "command",
	command: []string{claudeProgram, "-p", "go on", "--model", "scripted", "--allowedTools", "Bash", "Read", "mcp__filesystem", "mcp__web", "mcp__mail", "mcp__post"},
	vars:    []string{"ANTHROPIC_BASE_URL=ADDRESS", "ANTHROPIC_API_KEY=none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"},
	folder:  ".claude",
	limit:   `"timeout":60`, short: `"timeout":3`,
	helper: helper{tool: "Agent", prompt: "prompt", more: object{"description": "errand", "subagent_type": "general-purpose", "run_in_background": false}},
}

var agents = []agent{
	claude,
	{
		id: "codex", shell: "exec_command", argument: "cmd",
		command: []string{codexProgram, "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "-s", "danger-full-access", "go on"},
		files: map[string]string{".codex/config.toml": `model = "scripted"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "ADDRESS/v1"
wire_api = "responses"
`},
		folder: ".codex",
		limit:  `"timeout":60`, short: `"timeout":3`,
		helper: helper{tool: "multi_agent_v1.spawn_agent", prompt: "message"},
	},
	{
		id: "gemini", shell: "run_shell_command", argument: "command",
		command: []string{"node_modules/.bin/gemini", "-p", "go on", "--yolo", "--model", "gemini-2.5-flash"},
		vars:    []string{"GOOGLE_GEMINI_BASE_URL=ADDRESS", "GEMINI_API_KEY=none", "GEMINI_CLI_TRUST_WORKSPACE=true"},
		files: map[string]string{".gemini/settings.json": `{
  // No account
  "security": { "auth": { "selectedType": "gemini-api-key" } },
  "privacy": { "usageStatisticsEnabled": false }
}
`},
		folder: ".gemini",
		limit:  `"timeout":60000`, short: `"timeout":3000`,
		helper: helper{tool: "invoke_agent", prompt: "prompt", more: object{"agent_name": "generalist"}, last: "complete_task"},
	},
}

type object = map[string]any

// serve gives the model's address on loopback.
func serve(t *testing.T, model http.Handler) string {
	server := httptest.NewServer(model)
	t.Cleanup(server.Close)
	return server.URL
}

// agentSite is a clean home with an agent whose tools clawai-hook guards.
type agentSite struct {
	site
	agent
	bin string // with the programs
}

func newAgentSite(t *testing.T, a agent, url, policy string) agentSite {
	t.Helper()
	s := agentSite{site: newSite(t, policy), agent: a}
	s.bin = filepath.Join(s.home, "bin")
	s.write("tmp/.keep", "") // see clientSite
	s.write(a.folder+"/.keep", "")
	for name, text := range a.files {
		s.write(name, strings.ReplaceAll(text, "ADDRESS", url))
	}
	if err := os.Mkdir(s.bin, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"clawai", "clawai-hook"} {
		if err := os.Link(filepath.Join(filepath.Dir(clawai), name), filepath.Join(s.bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	s.env = append(s.env, "TMPDIR="+filepath.Join(s.home, "tmp"), "NO_COLOR=1", "CI=")
	for _, e := range a.vars {
		s.env = append(s.env, strings.ReplaceAll(e, "ADDRESS", url))
	}
	if a.before != nil {
		program, err := filepath.Abs(a.before[0])
		if err != nil {
			t.Fatal(err)
		}
		words := append([]string{program}, a.before[1:]...)
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "ADDRESS", url)
		}
		s.must(words...)
	}
	s.must(filepath.Join(s.bin, "clawai"), "wrap", "--hooks", a.id, "--yes")
	if a.daemon != "" {
		t.Cleanup(func() { s.stop(a.daemon) })
	}
	return s
}

// play has the agent work until its model ends.
func (s *agentSite) play() {
	s.t.Helper()
	words := s.absolute()
	cmd := exec.CommandContext(s.t.Context(), words[0], words[1:]...)
	cmd.Dir, cmd.Env = s.projects(), append(slices.Clip(s.env), "PWD="+s.projects()) // some take the folder from there
	cmd.WaitDelay = time.Minute
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Errorf("%s: %v\n%s", s.id, err, out)
	}
	if s.t.Failed() {
		s.t.Logf("%s said\n%s", s.id, out)
	}
}
