package modelcmd

import "testing"

// A client's options may turn its hooks off for one run. Then the hooks do not count.
func TestOptionsThatTurnHooksOff(t *testing.T) {
	for _, c := range []struct {
		id      string
		command []string
		changes bool
	}{
		{"claude-code", []string{"claude", "-p", "go", "-c"}, false},
		{"claude-code", []string{"claude", "--settings", `{"disableAllHooks":true}`}, true},
		{"claude-code", []string{"node", "cli.js", "--settings=x.json"}, true},
		{"claude-code", []string{"claude", "--bare"}, true},
		{"codex", []string{"codex", "exec", "go"}, false},
		{"codex", []string{"codex", "-c", "features.hooks=false"}, true},
	} {
		if got := changesHooks(c.id, c.command); got != c.changes {
			t.Errorf("%q: %v", c.command, got)
		}
	}
	if folder, hooks := describeProcess("claude-code", 0); folder != "" || hooks {
		t.Errorf("of a process that is not known: %q, %v", folder, hooks)
	}
}
