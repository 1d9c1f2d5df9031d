package textclass

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// What is kept shut is not learned, and what is warned of is not, but where no rule
// is learned for anything.
func TestNoRuleIsLearnedForAPlaceThatIsShut(t *testing.T) {
	unlearned := func(names string) bool {
		for name := range strings.SplitSeq(strings.ToLower(names), "/") {
			for _, p := range SecretPlaces {
				if slices.ContainsFunc(p.Names, func(pattern string) bool { ok, _ := path.Match(pattern, name); return ok }) {
					return true
				}
			}
		}
		return strings.HasPrefix(names, "/proc/")
	}
	for _, p := range SecretPlaces {
		for _, names := range append(slices.Clone(p.Shut), p.Hit) {
			if names != "" && !unlearned(strings.ReplaceAll(names, "*", "x")) {
				t.Errorf("a rule is learned for %s", names)
			}
		}
		if p.Path != "" && (!holds(&p, p.Hit) || holds(&p, p.Miss)) {
			t.Errorf("%s: %s and %s are not told apart", p.Path, p.Hit, p.Miss)
		}
		if len(p.Names) == 0 && p.Path == "" || (p.Path == "") != (p.Hit == "") || (p.Hit == "") != (p.Miss == "") {
			t.Errorf("an empty row: %+v", p)
		}
		for _, name := range p.Names {
			if _, err := path.Match(name, ""); err != nil || name != strings.ToLower(name) {
				t.Errorf("%s is not a pattern in lower case", name)
			}
		}
	}
}

// Rows of what runs later say where, and what comes near.
func TestPlacesOfWhatRunsLater(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range LaterPlaces {
		if p.Path == "" || len(p.Names)+len(p.Shut) > 0 || p.Of == Browser || seen[p.Path] {
			t.Errorf("no row, or one that is there twice: %+v", p)
		}
		seen[p.Path] = true
		if !holds(&p, p.Hit) || holds(&p, p.Miss) {
			t.Errorf("%s: %s and %s are not told apart", p.Path, p.Hit, p.Miss)
		}
	}
}

// The examples of what runs later are among the places of it.
func TestExamplesOfWhatRunsLaterArePlaces(t *testing.T) {
	for _, file := range append(slices.Clone(RunsLater.Project), RunsLater.Home...) {
		if !slices.ContainsFunc(LaterPlaces[:], func(p Place) bool { return p.ContainsPath("/p/" + file) }) {
			t.Errorf("%s is in no row of LaterPlaces", file)
		}
	}
}

// What holds a whole folder holds its places.
func TestPlacesWithinFolders(t *testing.T) {
	hooks := Place{Path: ".git/hooks"}
	for path, want := range map[string]bool{"/p/.git": true, "/p/.git/": true, ".git": true, "/p": false, "/p/git": false, "/p/.git/objects": false} {
		if hooks.LiesBelow(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
	if cron := (Place{Path: "/etc/cron*"}); !cron.LiesBelow("/etc") || cron.LiesBelow("/p/etc") {
		t.Error("a place at the root")
	}
}

// holds takes a path as the rows write examples.
func holds(p *Place, path string) bool {
	path = strings.ReplaceAll(path, `\`, "/")
	return p.ContainsPath(strings.TrimPrefix(strings.TrimPrefix(path, "~"), "C:"))
}

func TestTheWordsOfSecretsAreDistinct(t *testing.T) {
	words := strings.Fields(SecretWords)
	slices.Sort(words)
	if len(slices.Compact(slices.Clone(words))) != len(words) {
		t.Errorf("a word is there twice: %q", words)
	}
}

// What is written to a place of secrets is known in every spelling, and by its rows.
func TestHoldsSecrets(t *testing.T) {
	for _, p := range SecretPlaces {
		if p.Path != "" && (!HoldsSecrets(p.Hit) || HoldsSecrets(p.Miss)) {
			t.Errorf("%s: %v, %s: %v", p.Hit, HoldsSecrets(p.Hit), p.Miss, HoldsSecrets(p.Miss))
		}
	}
	for _, path := range []string{
		".env", "./.env", "/p/x/../.env", "/p//.ssh//id", `..\.ENV`, "file:///etc/shadow", "FILE:///p/.env", "/p/%2eenv", "/p/%252eenv", "/p/.env.", "/p/.env ", "/p/.env::$DATA", "/p/.ssh./id",
	} {
		if !HoldsSecrets(path) {
			t.Errorf("%q holds none", path)
		}
	}
	for _, path := range []string{"", ".", "..", "/", "main.go", "/p/environment.ts", "/p/.env.example", "/p/.env.example.", "100%", "/p/secrets.go", "a:b"} {
		if HoldsSecrets(path) {
			t.Errorf("%q holds some", path)
		}
	}
}
