package inspect

import "testing"

// A string of JSON whose end is missing is decoded from its own beginning. Before this test, a backslash before
// such a string cut the text in front of it, and a search ended in a panic.
func TestStringsWithoutAnEnd(t *testing.T) {
	wanted, err := ParseKinds([]string{"secret"})
	if err != nil {
		t.Fatal(err)
	}
	for _, before := range []string{"", "\\\n", "\\u00\n", "a\\\\\n", "\\ud83d\n"} {
		for _, value := range []string{"", "gh\\u0070_16C7e42F292c6912E7710c838347Ae178B4a", "gh\\u0070_16C7e42F292c6912E7710c838347Ae178B4a "} {
			for _, cut := range []string{"", "\\", "\\u", "\\u00", "\\ud83d\\ude"} {
				text := before + `{"a":"` + value + cut
				found := SearchDocument(text, wanted)
				seen := false
				for _, f := range found {
					seen = seen || f.Kind == "secret"
					if f.Start < 0 || f.End > len(text) || f.Start > f.End {
						t.Errorf("%q: %+v", text, f)
					}
				}
				if seen != (value != "") {
					t.Errorf("%q: a secret is found: %v, %+v", text, seen, found)
				}
			}
		}
	}
}
