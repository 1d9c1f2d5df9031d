package policy

import (
	"strings"
	"testing"
)

// preview stands beside a prompt alone, is kept when the rule is written again, and says nothing of
// what is decided.
func TestPreview(t *testing.T) {
	for src, want := range map[string]string{
		"action = \"prompt\"\ntool = \"Bash\"\npreview = true":    "",
		"action = \"prompt\"\ntool = \"Bash\"\npreview = false":   "",
		"action = \"allow\"\ntool = \"Bash\"\npreview = true":     `preview beside action "allow"`,
		"action = \"deny\"\npreview = true\ntool = \"Bash\"":      `preview beside action "deny"`,
		"action = \"prompt\"\ntool = \"Bash\"\npreview = \"yes\"": "preview must be true or false",
	} {
		p, err := Parse("p.toml", []byte("[[rule]]\n"+src+"\n"), Options{})
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", src, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		d := p.DecideAll([]Call{{Subject: ToolSubject, Names: []string{"Bash"}, Args: []byte(`{}`)}})
		if text := p.sources[0].formatTOML(); strings.Contains(text, "preview = true") != d.Rule.Preview {
			t.Errorf("%s is written as %s", src, text)
		}
		if d.Action != Prompt || d.Rule.Preview != strings.HasSuffix(src, "true") {
			t.Errorf("%s: %+v", src, d)
		}
	}
}
