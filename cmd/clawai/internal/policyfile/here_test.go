//go:build linux

package policyfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/state/config"
)

// writeFiles writes files below a folder.
func writeFiles(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Whatever judges a server is out of its reach, and so are the other servers' links.
func TestPlanCageBy(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	table := func(name, rest string) string {
		return fmt.Sprintf("[server.%s.sandbox]\nlevel = \"enforce\"\n%s\n", name, rest)
	}
	writeFiles(t, home, map[string]string{
		"packs/p.toml": "name = \"tickets\"\nsays = \"numbers of tickets\"\n[[pattern]]\nsays = \"a ticket\"\nnear = [\"ticket\"]\nregex = 'T-[0-9]{4}'\nmatch = [\"ticket T-1234\"]\nnot = [\"T-1234 alone\"]\n",
		"other/x":      "", "secret/x": "", "layer/l.toml": "", "conf/policy.toml": "packs = [\"../packs/p.toml\"]\n" +
			table("program", fmt.Sprintf("write = [%q]", filepath.Dir(self))) + table("reads", fmt.Sprintf("read = [%q]", filepath.Dir(self))) +
			table("pack", `write = ["~/packs"]`) + table("layer", `write = ["~/layer"]`) + table("policy", `write = ["~/conf"]`) +
			table("other", `write = ["~/other"]`) + table("link", `read = ["~/other/link"]`) + table("fine", `read = ["~/other/x", "~/secret"]`) +
			"[server.lax.sandbox]\nlevel = \"try\"\n",
	})
	if err := os.Symlink("../secret", filepath.Join(home, "other/link")); err != nil {
		t.Fatal(err)
	}
	layers := config.Layers{More: []string{filepath.Join(home, "layer/l.toml")}}
	loaded, err := layers.Load(filepath.Join(home, "conf/policy.toml"), PolicyOptions(home))
	if err != nil {
		t.Fatal(err)
	}
	for server, fault := range map[string]string{
		"program": "clawai's own program lies there", "reads": "", "pack": "p.toml is clawai's own", "layer": "l.toml is clawai's own",
		"policy": "policy.toml is clawai's own", "link": "a link in a folder", "fine": "", "": "has no name", "FINE": `is called "FINE"`, "LAX": "", "unknown": "",
	} {
		plan, err := PlanCageBy(loaded, config.Folders{Home: home, Config: filepath.Join(home, "none"), State: filepath.Join(home, "none")}, CagedServer{Name: server, Command: []string{"true"}})
		if err == nil != (fault == "") || err != nil && !strings.Contains(err.Error(), fault) {
			t.Errorf("%q: %v, want %q", server, err, fault)
		}
		if caged := server == "fine" || server == "reads"; caged != (plan != nil) {
			t.Errorf("%q has the cage %+v", server, plan)
		}
	}
}

// A command names a package where a launcher would take it, and not in a path to a file.
func TestNamesPackage(t *testing.T) {
	for command, want := range map[string]bool{
		"npx -y @a/b": true, "sh -c 'npx -y @a/b@1.0.0 x'": true, "mise exec -- npx @a/b": true, "sh -c x;bunx${IFS}@a/b;": false, "pnpm dlx --package=@a/b c": true,
		"node /p/node_modules/@a/b/index.js": false, "node server.js @a/bc": false, "@a/b2": false, "": false,
	} {
		if got := namesPackage(strings.Fields(command), "@a/b"); got != want {
			t.Errorf("%s: %v", command, got)
		}
	}
}
