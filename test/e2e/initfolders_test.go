//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInitOpensTheServersFolders starts as a newcomer does, with a filesystem server that is
// given two folders: what init writes has both read, through the entry that it wrote, and
// nothing beside them.
func TestInitOpensTheServersFolders(t *testing.T) {
	s := newSite(t, "")
	s.must("rm", "-r", filepath.Join(s.home, ".config"))
	s.env = append(s.env, "TMPDIR="+filepath.Join(s.home, "tmp")) // clawai itself lies in the folder for temporary files
	dir := here(t)
	folders := []string{filepath.Join(s.home, "Desktop"), filepath.Join(s.home, "Downloads")}
	s.write("Desktop/a.txt", "of the desk\n")
	s.write("Downloads/deep/b.txt", "\ufeffof the net\n")
	s.write("c.txt", "of the home\n")
	server := append([]string{filepath.Join(dir, "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js")}, folders...)
	entry, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"files": map[string]any{"command": "node", "args": server}}})
	if err != nil {
		t.Fatal(err)
	}
	s.write(".claude.json", string(entry))
	if out := s.must(clawai, "init", "--yes", "--client", "all"); !strings.Contains(out, "The 2 folders it opens are the filesystem server's own: ~/Desktop, ~/Downloads.") {
		t.Errorf("init said\n%s", out)
	}
	var wrapped struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
		}
	}
	src, err := os.ReadFile(filepath.Join(s.home, ".claude.json"))
	if err != nil || json.Unmarshal(src, &wrapped) != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	start := wrapped.MCPServers["files"]
	for path, want := range map[string]string{
		"Desktop/a.txt":        `of the desk`,
		"Downloads/deep/b.txt": "\ufeffof the net",
		"c.txt":                "Everything else is refused",
		"projects/notes.md":    "Everything else is refused",
		"Desktop/../c.txt":     "Everything else is refused",
	} {
		given, err := json.Marshal(map[string]string{"path": s.home + "/" + path})
		if err != nil {
			t.Fatal(err)
		}
		out := s.must(append([]string{"node", filepath.Join(dir, "asker.mjs"), "read_text_file", string(given), "--", start.Command}, start.Args...)...)
		if !strings.Contains(out, want) {
			t.Errorf("%s: %s", path, out)
		}
	}
	s.must(clawai, "log", "verify")
}
