//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/clawai/clawai/internal/state/servers"
)

// What the catalogue of servers says of tools is what the installed packages declare: each
// tool once, and where it says which version was compared, no other.
func TestTheCatalogueNamesRealTools(t *testing.T) {
	t.Parallel()
	all, err := servers.LoadCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, "[[rule]]\naction = \"deny\"\ntool = \"*\"\n")
	commands := packages(s)
	commands["memory"] = []string{"node", "node_modules/@modelcontextprotocol/server-memory/dist/index.js"}
	commands["everything"] = []string{"node", "node_modules/@modelcontextprotocol/server-everything/dist/index.js", "stdio"}
	compared := 0
	for _, known := range all {
		command := commands[known.ID]
		if command == nil {
			continue
		}
		compared++
		t.Run(known.ID, func(t *testing.T) {
			if version := installedVersion(t, known.NPM[0]); known.Checked != "" && known.Checked != version {
				t.Errorf("compared with %s, and %s is installed", known.Checked, version)
			}
			var said, declared []string
			for _, e := range known.Tools.ListEffects() {
				said = append(said, e.Tools...)
			}
			for _, tool := range declaredTools(t, s, command) {
				declared = append(declared, tool.Name)
				if !slices.Contains(said, tool.Name) {
					t.Errorf("nothing is said of %s", tool.Name)
				}
			}
			for _, name := range said {
				if known.Checked != "" && !slices.Contains(declared, name) {
					t.Errorf("there is no %s", name)
				}
			}
		})
	}
	if compared != len(commands) {
		t.Errorf("%d of %d servers were compared", compared, len(commands))
	}
}

func installedVersion(t *testing.T, name string) string {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("node_modules", filepath.FromSlash(name), "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var about struct{ Version string }
	if err := json.Unmarshal(src, &about); err != nil {
		t.Fatal(err)
	}
	return about.Version
}
