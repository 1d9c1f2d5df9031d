package clientfiles

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/proxy/hook/client"
)

// A hook leaves a server to its proxy where wrap, or the owner's own file, says that ours stands
// before it. Whoever may write in the project could say the same of a connector.
func TestProxied(t *testing.T) {
	home, project, state := t.TempDir(), t.TempDir(), t.TempDir()
	for name, value := range map[string]string{"HOME": home, "USERPROFILE": home, "XDG_STATE_HOME": state, "XDG_CONFIG_HOME": home, "APPDATA": home, "LOCALAPPDATA": state} {
		t.Setenv(name, value)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ours, other := filepath.Join(home, "clawai"), filepath.Join(project, "clawai")
	if err := os.Symlink(self, ours); err != nil {
		t.Skip(err)
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(other, "#!/bin/sh\n")
	entry := func(path string, words ...string) string {
		text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"pay": map[string]any{
			"command": path, "args": append(append([]string{"proxy"}, words...), "--", "npx", "pay"),
		}}})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	named := []string{"--server", "pay"}
	mcp, err := filepath.EvalSymlinks(project)
	if err != nil {
		t.Fatal(err)
	}
	mcp = filepath.Join(mcp, ".mcp.json")
	journal := func(op string) string {
		line, err := json.Marshal(map[string]any{"op": op, "file": mcp, "key": []string{"mcpServers", "pay"}})
		if err != nil {
			t.Fatal(err)
		}
		return string(line) + "\n"
	}
	for name, c := range map[string]struct {
		own, project, journal string
		want                  bool
	}{
		"no file":                       {},
		"the owner's file":              {own: entry(ours, named...), want: true},
		"nothing enforced":              {own: entry(ours, "--server", "pay", "--observe")},
		"another policy":                {own: entry(ours, "--policy", "/tmp/p.toml", "--server", "pay")},
		"under another name":            {own: entry(ours, "--server", "other")},
		"another program":               {own: entry(other, named...)},
		"the project's word alone":      {project: entry(ours, named...)},
		"the project's, by wrap":        {project: entry(ours, named...), journal: journal("wrap"), want: true},
		"the project's, since unwrap":   {project: entry(ours, named...), journal: journal("wrap") + journal("unwrap")},
		"the project's beside our own":  {own: entry(ours, named...), project: entry(ours, named...)},
		"the project's beside its wrap": {own: entry(ours, named...), project: entry(ours, named...), journal: journal("wrap"), want: true},
	} {
		t.Run(name, func(t *testing.T) {
			for path, text := range map[string]string{
				filepath.Join(home, ".claude.json"): c.own, mcp: c.project, filepath.Join(state, "clawai", "wrap-journal.ndjson"): c.journal,
			} {
				if text == "" {
					_ = os.Remove(path)
				} else {
					write(path, text)
				}
			}
			if got := IsProxied(client.FindRow("claude-code"), "pay", project); got != c.want {
				t.Errorf("%v, of %s", got, strings.TrimSpace(c.own+"\n"+c.project))
			}
		})
	}
}
