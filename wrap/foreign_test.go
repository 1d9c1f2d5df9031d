package wrap

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/wrap/client"
)

// An entry that the proxy could not stand in front of is left alone, and status says why.
func TestEntriesThatCannotStartAProxy(t *testing.T) {
	const desktop = "mnt/c/Users/u/AppData/Roaming/Claude/claude_desktop_config.json"
	tests := []struct{ name, row, path, src, want string }{
		{"a Windows program's file", "claude-desktop", desktop, `{"mcpServers":{"s":{"command":"npx"}}}`, "a Windows program reads this file"},
		{"cmd /c", "claude-code-user", ".claude.json", `{"mcpServers":{"s":{"command":"cmd","args":["/c","npx"]}}}`, "it starts cmd, a Windows program"},
		{"a drive", "claude-code-user", ".claude.json", `{"mcpServers":{"s":{"command":"C:\\bin\\x.exe"}}}`, `it starts C:\bin\x.exe, a Windows program`},
		{"a command line", "claude-code-user", ".claude.json", `{"mcpServers":{"s":{"command":"npx -y files"}}}`, "its command is a whole command line (npx -y files)"},
		{"VS Code's sandbox that no cage carries out", "vscode-user", ".config/Code/User/mcp.json", `{"servers":{"s":{"command":"npx","sandboxEnabled":true,"sandbox":{"filesystem":{"denyRead":["~/*.key"]}}}}}`, "clawai cannot carry out the sandbox"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t)
			p := ReadConfigFile(rowByID(t, m.rows, tt.row), m.write(tt.path, tt.src))
			if p.Err != nil {
				t.Fatal(p.Err)
			}
			planner := Planner{Program: Program{Path: "/usr/local/bin/clawai"}}
			changes, errs := planner.PlanChanges(Wrap, []Target{{&p, p.Entries[0]}})
			if len(changes) != 0 || len(errs) != 1 || !strings.Contains(errs[0].Error(), tt.want) {
				t.Errorf("plan: %v, %v; want nothing, and %q", changes, errs, tt.want)
			}
			if state, why := planner.EntryState(&p, p.Entries[0]); state == Wrapped || !strings.Contains(why, tt.want) {
				t.Errorf("status: %s, %q; want %q", state, why, tt.want)
			}
		})
	}
}

// What looks alike and is ordinary is wrapped.
func TestEntriesThatStartAProxy(t *testing.T) {
	for _, src := range []string{
		`{"servers":{"s":{"command":"/Users/me/My Apps/server"}}}`,
		`{"servers":{"s":{"command":"npx","args":["-y","files"],"sandboxEnabled":false}}}`,
		`{"servers":{"s":{"command":"my server","args":["x"]}}}`,
		`{"servers":{"s":{"command":"npx","sandboxEnabled":true}}}`,
	} {
		m := newMachine(t)
		p := ReadConfigFile(rowByID(t, m.rows, "vscode-user"), m.write(".config/Code/User/mcp.json", src))
		changes, errs := Planner{Program: Program{Path: "/usr/local/bin/clawai"}}.PlanChanges(Wrap, []Target{{&p, p.Entries[0]}})
		if len(changes) != 1 || len(errs) != 0 {
			t.Errorf("%s: %v, %v", src, changes, errs)
		}
	}
}

func rowByID(t *testing.T, rows []client.Row, id string) client.Row {
	t.Helper()
	for _, row := range rows {
		if row.ID == id {
			return row
		}
	}
	t.Fatalf("no row %s", id)
	return client.Row{}
}
