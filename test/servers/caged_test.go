//go:build servers

package servers

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	catalogue "github.com/clawai/clawai/internal/state/servers"
)

// In the sandbox that clawai proposes, written as it is, each server answers what it answers without
// one, byte for byte.
func TestCagedServers(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there are sandboxes on Linux alone")
	}
	clawai, folder := build(t), install(t)
	var report []string
	whole := 0
	for _, s := range servers {
		t.Run(s.name, func(t *testing.T) {
			if s.name == "@playwright/mcp" {
				t.Skip("a browser keeps its profile in ~/.cache, which nobody proposes to open")
			}
			site := t.TempDir()
			if err := os.WriteFile(filepath.Join(site, "a.txt"), []byte("text\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			command, err := s.command(t, folder, site)
			if err != nil {
				t.Skipf("it cannot be installed here: %v", err)
			}
			h := &home{t: t, clawai: clawai, server: s, command: command}
			direct := h.direct()
			if direct["initialize"] == "" {
				report = append(report, s.name+" does not start here without clawai")
				t.Skip("it does not start here without clawai")
			}
			again, got := h.direct(), h.caged(site)
			same, compared := 0, 0
			for step, want := range direct {
				if want != again[step] {
					continue
				}
				if compared++; got[step] == want {
					same++
					continue
				}
				t.Errorf("%s:\nin the sandbox %.600s\nwithout        %.600s", step, got[step], want)
			}
			if same == compared {
				whole++
			}
			report = append(report, compareVersion(t, s.name, folder, same == compared))
			report = append(report, fmt.Sprintf("%-50s %3d of %3d answers identical", s.name, same, compared))
		})
	}
	t.Log("\n" + strings.Join(report, "\n"))
	if whole < 25 {
		t.Errorf("%d servers answer alike", whole)
	}
}

// compareVersion says whether the catalogue has the sandbox of a server, and of the version that ran. A
// server that does not answer alike any more must have none.
func compareVersion(t *testing.T, name, folder string, alike bool) string {
	known, err := catalogue.RecogniseServer("npx", []string{name}, "")
	if err != nil {
		t.Fatal(err)
	}
	if known == nil || known.Cage == nil {
		return name + " has no sandbox in the catalogue"
	}
	src, err := os.ReadFile(filepath.Join(folder, "node_modules", name, "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var about struct{ Version string }
	if err := json.Unmarshal(src, &about); err != nil {
		t.Fatal(err)
	}
	if !alike {
		t.Errorf("the catalogue has a sandbox for %s, and %s does not answer alike in it", name, about.Version)
	}
	return fmt.Sprintf("%s ran at %s, and the catalogue has %s", name, about.Version, known.Cage.Tried)
}

// caged lets clawai propose a sandbox, and starts the server in it.
func (h *home) caged(site string) answers {
	command := h.command
	if at := slices.Index(command, "node"); at >= 0 { // without the namespaces that it has elsewhere
		command = command[at:]
	}
	env := map[string]string{}
	var set []string
	for _, v := range h.server.env {
		name, value, _ := strings.Cut(strings.ReplaceAll(v, "SITE", site), "=")
		env[name], set = value, append(set, name+"="+value)
	}
	entry, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"one": map[string]any{"command": command[0], "args": command[1:], "env": env}}})
	if err != nil {
		h.t.Fatal(err)
	}
	propose := h.run("", "sandbox", "propose", "one", "--write", "--yes")
	if err := os.WriteFile(filepath.Join(propose.Dir, ".claude.json"), entry, 0o600); err != nil {
		h.t.Fatal(err)
	}
	out, err := propose.CombinedOutput()
	if err != nil {
		h.t.Fatalf("%v\n%s", err, out)
	}
	h.t.Logf("%s", out)
	proxy := h.run("", append([]string{"proxy", "--ask", "never", "--server", "one", "--"}, command...)...)
	proxy.Dir, proxy.Env = propose.Dir, append(propose.Env, set...)
	return h.lines(proxy)
}
