package textclass

import (
	"slices"
	"strings"
	"testing"
)

func TestEachWordHasOneRow(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range toolWords {
		words := strings.Fields(row.words)
		if !slices.IsSorted(words) {
			t.Errorf("not in the order of the alphabet: %q", words)
		}
		for _, word := range words {
			if seen[word] {
				t.Errorf("%s has two rows", word)
			}
			seen[word] = true
		}
		// What a person is warned of is not learned, and what destroys is not harmless.
		if row.says&(Shell|Wipes) != 0 && row.says&Executes == 0 || row.says&(Reads|Tells) != 0 && row.says&^(Reads|Tells|Opens) != 0 {
			t.Errorf("%q say two things that do not go together: %b", words, row.says)
		}
	}
	for _, name := range ShellTools {
		if !RunsText("x/"+strings.ToUpper(name)) || EffectsOf(LetterWords(name))&Executes == 0 {
			t.Errorf("%s runs nothing", name)
		}
	}
}

func TestWords(t *testing.T) {
	for name, want := range map[string][2]string{
		"run_command": {"run command", "run command"}, "runCommand": {"run command", "run command"}, "files.run-command": {"files run command", "files run command"},
		"run2": {"run2", "run"}, "k8s": {"k8s", "k s"}, "HTTPRequest": {"httprequest", "httprequest"}, "löscheÄlteste": {"lösche älteste", "lösche älteste"}, "": {"", ""}, "_": {"", ""},
	} {
		if got := [2]string{strings.Join(SplitWords(name), " "), strings.Join(LetterWords(name), " ")}; got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
