// Package layout holds the imports of all rooms and the names of all functions to docs/layout.md.
package layout

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	root   = "../.."
	module = "github.com/clawai/clawai/"
)

// impure are the packages that a room marked Pure does not import.
var impure = []string{"context", "net", "net/http", "os", "os/exec"}

// rules are what docs/layout.md says of imports.
type rules struct {
	layers    [][]string          // patterns of folders, the lowest layer first
	rooms     map[string]bool     // whether the room is Pure
	importers map[string][]string // of a room or a library, by its pattern: who may import it
}

// importEdge says that a package imports another. Packages of ours stand without the module.
type importEdge struct{ from, to, file string }

func TestImports(t *testing.T) {
	r := readRules(t)
	edges := readImports(t)
	for _, edge := range edges {
		if err := r.checkImport(edge.from, edge.to); err != nil {
			t.Errorf("%s: %v", edge.file, err)
		}
	}
	if len(edges) < 1000 {
		t.Errorf("read %d imports, which cannot be all", len(edges))
	}
}

// Every folder with code is described, and nothing that is not there.
func TestRoomsAreDescribed(t *testing.T) {
	r, found := readRules(t), map[string]bool{}
	for _, edge := range readImports(t) {
		found[edge.from] = true
		if _, ok := r.findRoom(edge.from); !ok {
			t.Errorf("docs/layout.md has no room %s", edge.from)
		}
	}
	for room := range r.rooms {
		if !slices.ContainsFunc(sortedKeys(found), func(folder string) bool { return matchPattern(room, folder) }) {
			if files, _ := filepath.Glob(filepath.Join(root, strings.TrimSuffix(room, "/..."), "*")); files == nil {
				t.Errorf("docs/layout.md describes %s, which is not there", room)
			}
		}
	}
}

// The tables refuse what they are for.
func TestRefusedImports(t *testing.T) {
	r := readRules(t)
	for _, edge := range []importEdge{
		{from: "policy", to: "internal/gate"},
		{from: "policy", to: "os"},
		{from: "internal/wire/frame", to: "policy"},
		{from: "internal/gate", to: "proxy/stdio"},
		{from: "internal/mcp", to: "context"},
		{from: "internal/session", to: "proxy"},
		{from: "proxy/stdio", to: "internal/session"},
		{from: "proxy/hub", to: "internal/state/audit"},
		{from: "proxy/hook/program", to: "internal/ask/queue"},
		{from: "proxy/remote", to: "internal/check"},
		{from: "cmd/clawai/internal/proxycmd", to: "internal/check/prove"},
		{from: "cmd/clawai/internal/proxycmd", to: "internal/ask/web"},
		{from: "cmd/clawai/internal/authcmd", to: "cmd/clawai/internal/wrapcmd"},
		{from: "cmd/clawai-hook", to: "github.com/urfave/cli/v2"},
		{from: "policy/where/shell", to: "mvdan.cc/sh/v3/interp"},
		{from: "internal/state/flow", to: "modernc.org/sqlite"},
		{from: "bench", to: "policy"},
		{from: "wrap", to: "internal/nowhere"},
	} {
		if err := r.checkImport(edge.from, edge.to); err == nil {
			t.Errorf("%s may import %s", edge.from, edge.to)
		}
	}
}

// checkImport gives the reason why a package may not import another.
func (r *rules) checkImport(from, to string) error {
	if ours := r.layerOf(to); ours >= 0 {
		if own := r.layerOf(from); own < ours {
			return fmt.Errorf("%s imports %s, which is in a layer above (docs/layout.md#layers)", from, to)
		}
	} else if first, _, _ := strings.Cut(to, "/"); first == "internal" || isFolder(first) {
		return fmt.Errorf("%s imports %s, which is in no layer (docs/layout.md#layers)", from, to)
	}
	room, _ := r.findRoom(from)
	if r.rooms[room] && slices.Contains(impure, to) {
		return fmt.Errorf("%s is Pure and imports %s (docs/layout.md#rooms)", from, to)
	}
	guard := longestMatch(sortedKeys(r.importers), to)
	if guard == "" || matchPattern(guard, from) {
		return nil
	}
	if !slices.ContainsFunc(r.importers[guard], func(pattern string) bool { return matchPattern(pattern, from) }) {
		return fmt.Errorf("%s imports %s, which is for %s alone (docs/layout.md#rooms)", from, to, strings.Join(r.importers[guard], ", "))
	}
	return nil
}

// layerOf gives the number of the layer in which a package lies; -1 if there is none.
func (r *rules) layerOf(pkg string) int {
	best, layer := "", -1
	for n, patterns := range r.layers {
		if pattern := longestMatch(patterns, pkg); len(pattern) > len(best) {
			best, layer = pattern, n
		}
	}
	return layer
}

func (r *rules) findRoom(pkg string) (string, bool) {
	room := longestMatch(sortedKeys(r.rooms), pkg)
	return room, room != ""
}

// longestMatch gives the longest pattern that matches a package; "" if none does.
func longestMatch(patterns []string, pkg string) (longest string) {
	for _, pattern := range patterns {
		if matchPattern(pattern, pkg) && len(pattern) > len(longest) {
			longest = pattern
		}
	}
	return longest
}

// matchPattern knows the patterns of Go: a package, or a folder with /... and all below it.
func matchPattern(pattern, pkg string) bool {
	folder, below := strings.CutSuffix(pattern, "/...")
	return pkg == folder || below && strings.HasPrefix(pkg, folder+"/")
}

func isFolder(name string) bool {
	info, err := os.Stat(filepath.Join(root, name))
	return err == nil && info.IsDir()
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

var quoted = regexp.MustCompile("`([^`]+)`")

// readRules reads the tables of three sections: Layers (layer, folders), Rooms (rooms, what is in
// them, who alone may import them) and Libraries (libraries, who alone may import them).
func readRules(t *testing.T) *rules {
	text, err := os.ReadFile(filepath.Join(root, "docs", "layout.md"))
	if err != nil {
		t.Fatal(err)
	}
	r := &rules{rooms: map[string]bool{}, importers: map[string][]string{}}
	section := ""
	for line := range strings.Lines(string(text)) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			section = strings.TrimSpace(heading)
		}
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if !strings.HasPrefix(line, "| ") || len(cells) < 2 {
			continue
		}
		names := readNames(cells[0])
		switch section {
		case "Layers":
			if patterns := readNames(cells[1]); len(patterns) > 0 {
				r.layers = append(r.layers, patterns)
			}
		case "Rooms":
			for _, name := range names {
				r.rooms[name] = strings.Contains(cells[1], "Pure")
			}
		}
		if importers := readNames(cells[len(cells)-1]); (section == "Rooms" && len(cells) == 3 || section == "Libraries") && len(names) > 0 {
			if section == "Libraries" || len(importers) > 0 {
				for _, name := range names {
					r.importers[name] = importers
				}
			}
		}
	}
	if len(r.layers) < 10 || len(r.rooms) < 80 || len(r.importers) < 20 {
		t.Fatalf("docs/layout.md has %d layers, %d rooms and %d that not everybody may import", len(r.layers), len(r.rooms), len(r.importers))
	}
	return r
}

// readNames gives the words in backquotes.
func readNames(cell string) (names []string) {
	for _, match := range quoted.FindAllStringSubmatch(cell, -1) {
		names = append(names, match[1])
	}
	return names
}

// readImports reads the imports of all code but tests, for every system and build tag.
func readImports(t *testing.T) (edges []importEdge) {
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && isSkipped(name, entry) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			to, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			edges = append(edges, importEdge{from: path.Dir(name), to: strings.TrimPrefix(to, module), file: name})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return edges
}

// isSkipped reports whether a folder holds no code of the repository.
func isSkipped(name string, folder fs.DirEntry) bool {
	base := folder.Name()
	return name == "bin" || base == "testdata" || base == "node_modules" || name != "." && strings.HasPrefix(base, ".")
}
