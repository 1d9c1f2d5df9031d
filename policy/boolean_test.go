package policy

import (
	"slices"
	"testing"

	"github.com/clawai/clawai/policy/reading"
)

// What a server may take for a boolean is a maybe: a deny holds, an allow does not.
// The list of spellings that analyses get is what is matched.
func TestBooleanSpellings(t *testing.T) {
	for word, other := range map[string]string{"true": "false", "false": "true"} {
		f, err := (&Policy{}).GlobForms(word)
		if err != nil {
			t.Fatal(err)
		}
		distinct := slices.Compact(slices.Sorted(slices.Values(f.Perhaps)))
		if len(distinct) != len(f.Perhaps) || len(distinct) < 30 {
			t.Errorf("%q: %q", word, f.Perhaps)
		}
		for _, s := range f.Perhaps {
			if reading.ParseBoolean(s) != word {
				t.Errorf("%q is meant as %q, want %q", s, reading.ParseBoolean(s), word)
			}
			for _, c := range []struct {
				rules string
				want  Action
			}{
				{"[[rule]]\naction = \"deny\"\ntool = \"t\"\nargs.a = \"" + word + "\"\n[[rule]]\naction = \"allow\"\ntool = \"t\"\n", Deny},
				{"[[rule]]\naction = \"deny\"\ntool = \"t\"\nargs.a = \"" + other + "\"\n[[rule]]\naction = \"allow\"\ntool = \"t\"\n", Allow},
				{"[[rule]]\naction = \"allow\"\ntool = \"t\"\nargs.a = \"" + word + "\"\n", map[bool]Action{true: Allow}[s == word]},
			} {
				p, err := Parse("", []byte(c.rules), Options{})
				if err != nil {
					t.Fatal(err)
				}
				if d := p.Decide(toolCall("t", `{"a":`+jsonText(s)+`}`)); d.Action != c.want {
					t.Errorf("%q under\n%s%v, want %v", s, c.rules, d.Action, c.want)
				}
			}
		}
	}
	if f, err := (&Policy{}).GlobForms("yes"); err != nil || f.Perhaps != nil {
		t.Errorf("yes: %q, %v", f.Perhaps, err)
	}
}
