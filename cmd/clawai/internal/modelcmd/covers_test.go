package modelcmd

import (
	"os"
	"slices"
	"testing"
)

// A client's options and its environment may turn its hooks off for one run. Then the hooks do not count.
func TestWhatTurnsHooksOff(t *testing.T) {
	for _, c := range []struct {
		id      string
		command []string
		env     []string // beside ours
		changes bool
	}{
		{"claude-code", []string{"claude", "-p", "go", "-c"}, nil, false},
		{"claude-code", []string{"claude", "--settings", `{"disableAllHooks":true}`}, nil, true},
		{"claude-code", []string{"node", "cli.js", "--settings=x.json"}, nil, true},
		{"claude-code", []string{"claude", "--setting-sources", "project"}, nil, true},
		{"claude-code", []string{"claude", "--bare"}, nil, true},
		{"claude-code", []string{"claude", "--safe-mode"}, nil, true},
		{"claude-code", []string{"sh", "-c", "claude --bare -p go"}, nil, true},
		{"claude-code", []string{"sh", "-c", "cd x;claude '--safe-mode'"}, nil, true},
		{"claude-code", []string{"sh", "-c", "claude -p 'what is barely done'"}, nil, false},
		{"claude-code", []string{"claude"}, []string{"CLAUDE_CODE_SIMPLE=1"}, true},
		{"claude-code", []string{"claude"}, []string{"CLAUDE_CODE_SIMPLE=0"}, false},
		{"claude-code", []string{"claude"}, []string{"CLAUDE_CODE_SAFE_MODE=true"}, true},
		{"claude-code", []string{"claude"}, []string{"CLAUDE_CODE_PERSONAL_HOOKS_OFF=launch"}, true},
		{"claude-code", []string{"claude"}, []string{"CLAUDE_CONFIG_DIR=/elsewhere"}, true},
		{"claude-code", []string{"claude"}, []string{"HOME=/elsewhere"}, true},
		{"claude-code", []string{"claude"}, []string{"QWEN_CODE_SIMPLE=1", "TERM=x"}, false},
		{"codex", []string{"codex", "exec", "go"}, nil, false},
		{"codex", []string{"codex", "-c", "features.hooks=false"}, nil, true},
		{"codex", []string{"codex", "-cfeatures.hooks=false"}, nil, true},
		{"codex", []string{"codex", "-pother"}, nil, true},
		{"codex", []string{"codex", "--disable=hooks"}, nil, true},
		{"codex", []string{"codex", "--config=features.hooks=false"}, nil, true},
		{"codex", []string{"codex", "exec"}, []string{"CODEX_HOME=/elsewhere"}, true},
		{"gemini-cli", []string{"gemini", "-p", "go"}, nil, false},
		{"gemini-cli", []string{"gemini"}, []string{"GEMINI_CLI_HOME=/elsewhere"}, true},
		{"qwen-code", []string{"qwen", "--safe-mode"}, nil, true},
		{"qwen-code", []string{"qwen", "--bare=true"}, nil, true},
		{"qwen-code", []string{"qwen"}, []string{"QWEN_CODE_SAFE_MODE=1"}, true},
		{"qwen-code", []string{"qwen"}, []string{"QWEN_HOME=/elsewhere"}, true},
		{"opencode", []string{"opencode", "run", "--pure", "go"}, nil, true},
		{"opencode", []string{"opencode", "run", "go"}, nil, false},
		{"opencode", []string{"opencode"}, []string{"OPENCODE_PURE=true"}, true},
		{"opencode", []string{"opencode"}, []string{`OPENCODE_CONFIG_CONTENT={"plugin":[]}`}, true},
	} {
		if got := changesHooks(c.id, c.command, slices.Concat(os.Environ(), c.env)); got != c.changes {
			t.Errorf("%s: %q %q: %v", c.id, c.command, c.env, got)
		}
	}
	if folder, hooks := describeProcess("claude-code", 0); folder != "" || hooks {
		t.Errorf("of a process that is not known: %q, %v", folder, hooks)
	}
}
