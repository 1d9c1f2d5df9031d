package screen

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
		if len(p.Names) == 0 && p.Path == "" || (p.Path == "") != (p.Hit == "") || (p.Hit == "") != (p.Miss == "") {
			t.Errorf("an empty row: %+v", p)
		}
		for _, name := range p.Names {
			if _, err := path.Match(name, ""); err != nil || name != strings.ToLower(name) {
				t.Errorf("%s is no pattern in lower case", name)
			}
		}
	}
}

func TestTheWordsOfSecretsAreDistinct(t *testing.T) {
	words := strings.Fields(SecretWords)
	slices.Sort(words)
	if len(slices.Compact(slices.Clone(words))) != len(words) {
		t.Errorf("a word is there twice: %q", words)
	}
}
