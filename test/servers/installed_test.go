//go:build servers && linux

package servers

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Servers of npm that clawai installs start from there and answer as directly, byte for byte, in the
// sandbox that clawai proposes and without a network. An older version is installed first, and updated.
func TestInstalledServers(t *testing.T) {
	clawai := build(t)
	for _, tc := range []struct{ name, older string }{
		{"@modelcontextprotocol/server-sequential-thinking", "2025.7.1"},
		{"@modelcontextprotocol/server-everything", ""},
		{"@accesslint/mcp", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := &home{t: t, clawai: clawai, server: server{name: tc.name}}
			first := h.run("")
			entry, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"one": map[string]any{"command": "npx", "args": []string{"-y", tc.name}}}})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(first.Dir, ".claude.json"), entry, 0o600); err != nil {
				t.Fatal(err)
			}
			command := func(args ...string) *exec.Cmd {
				cmd := exec.Command(clawai, args...)
				cmd.Dir, cmd.Env = first.Dir, first.Env
				return cmd
			}
			run := func(args ...string) string {
				t.Helper()
				out, err := command(args...).CombinedOutput()
				if err != nil {
					t.Fatalf("%q: %v\n%s", args, err, out)
				}
				return string(out)
			}
			if tc.older != "" {
				if out := run("sandbox", "install", "one", "--version", tc.older); !strings.Contains(out, "Installed "+tc.name+"@"+tc.older) {
					t.Fatal(out)
				}
				run("sandbox", "update", "one", "--yes")
			} else {
				run("sandbox", "install", "one", "--yes")
			}
			run("sandbox", "propose", "one", "--write", "--yes")
			if now, err := os.ReadFile(filepath.Join(first.Dir, ".claude.json")); err != nil || string(now) != string(entry) {
				t.Errorf("the client's file is %s, %v", now, err)
			}
			through := command("proxy", "--ask", "never", "--server", "one", "--", "npx", "-y", tc.name)
			got := h.lines(through)
			_, program, ok := strings.Cut(run("doctor", "--all"), "is started in place of npx, from ")
			if !ok {
				t.Fatal("doctor does not say where it is installed")
			}
			folder, _, _ := strings.Cut(program, "\n")
			src, err := os.ReadFile(filepath.Join(folder, "node_modules", tc.name, "package.json"))
			if err != nil {
				t.Fatal(err)
			}
			var doc struct{ Bin map[string]string }
			if err := json.Unmarshal(src, &doc); err != nil || len(doc.Bin) != 1 {
				t.Fatal(doc, err)
			}
			for _, script := range doc.Bin {
				h.command = []string{"node", filepath.Join(folder, "node_modules", tc.name, script)}
			}
			direct, again := h.direct(), h.direct()
			for step, want := range direct {
				if want == again[step] && got[step] != want {
					t.Errorf("%s:\ninstalled %.300s\ndirect    %.300s", step, got[step], want)
				}
			}
			if len(direct) < 5 {
				t.Errorf("%d answers", len(direct))
			}
		})
	}
}
