package servers_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/state/servers"
	"github.com/clawai/clawai/policy"
)

// The catalogue is sorted, says what each server runs as, and says one thing of a tool;
// nothing runs as two servers.
func TestTheCatalogueIsInOrder(t *testing.T) {
	all, err := servers.LoadCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	ids, runs := []string{}, map[string]string{}
	withTools := 0
	for _, s := range all {
		ids = append(ids, s.ID)
		names := 0
		for kind, list := range map[string][]string{"npm": s.NPM, "pypi": s.PyPI, "module": s.Module, "program": s.Program, "image": s.Image, "repo": s.Repo, "url": s.URL} {
			for _, name := range list {
				names++
				if other := runs[kind+" "+name]; other != "" {
					t.Errorf("%s %s is %s and %s", kind, name, other, s.ID)
				}
				runs[kind+" "+name] = s.ID
				if kind != "module" && kind != "program" && name != strings.ToLower(name) {
					t.Errorf("%s: %s %s is never found: names there are in lower case", s.ID, kind, name)
				}
			}
		}
		if names == 0 || s.Name == "" {
			t.Errorf("%s runs as nothing, or has no name", s.ID)
		}
		seen := map[string]string{}
		for _, e := range s.Tools.ListEffects() {
			for _, tool := range e.Tools {
				if seen[tool] != "" {
					t.Errorf("%s: %s is in %s and %s", s.ID, tool, seen[tool], e.Name)
				}
				seen[tool] = e.Name
				if strings.ContainsAny(tool, "*?") {
					t.Errorf("%s: %s is a pattern", s.ID, tool)
				}
			}
		}
		if len(seen) > 0 {
			withTools++
		}
	}
	if !slices.IsSorted(ids) || len(slices.Compact(ids)) != len(all) {
		t.Error("the ids are not in the order of the alphabet, or one is there twice")
	}
	if withTools < 60 {
		t.Errorf("of %d servers the tools are known", withTools)
	}
}

// What passes without a question says by no word that it runs, deletes or sends, but for
// the names here, each of which was looked at.
func TestWhatPassesSoundsHarmless(t *testing.T) {
	looked := map[string]bool{}
	all, err := servers.LoadCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		for _, tool := range s.Tools.Read {
			words := strings.FieldsFunc(strings.ToLower(tool), func(r rune) bool { return r == '_' || r == '-' })
			for _, bad := range []string{"delete", "remove", "execute", "exec", "send", "update", "create", "write", "drop", "kill", "upload", "eval", "insert", "patch", "put"} {
				if slices.Contains(words, bad) && !looked[s.ID+" "+tool] {
					t.Errorf("%s: %s passes without a question", s.ID, tool)
				}
			}
		}
	}
}

// Every name of a tool can stand in a rule.
func TestToolsCanStandInRules(t *testing.T) {
	all, err := servers.LoadCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		for _, e := range s.Tools.ListEffects() {
			for _, tool := range e.Tools {
				if _, err := policy.Parse("", []byte("[[rule]]\naction = \"deny\"\ntool = \""+tool+"\"\n"), policy.Options{}); err != nil {
					t.Errorf("%s: %s: %v", s.ID, tool, err)
				}
			}
		}
	}
}
