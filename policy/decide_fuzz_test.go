package policy

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/glob"
	"github.com/clawai/clawai/policy/reading"
)

// Whatever pattern and value are: deciding ends, an allow holds for the value
// as sent, a deny that matches it as sent holds, and an allow never survives a
// deny on the same pattern.
func FuzzDecide(f *testing.F) {
	for _, s := range [][3]string{
		{"/p/**", "/p/%2e%2e/etc", "/home/u"}, {"~/a/*", "~/a/b", "/home/u"}, {"file:///p/?", "FILE:/p/x", ""},
		{`C:\Users\**`, `c:/users/..\x`, ""}, {"https://H.example./**", "https://h.example:443/a?b", ""}, {"**/%41*", "\u212a/é", "~"},
		{"./**", "../.\\x~1", "/"}, {"file://", "%66ile:%2f", "x"}, {"~x", "~+", "/home/u"},
	} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, pattern, value, home string) {
		g, err := glob.Compile(pattern)
		if err != nil {
			return
		}
		one := func(actions ...Action) Action {
			var rules []ruleSource
			for i, a := range actions {
				rules = append(rules, toolRule(a, "read", arg("path", pattern)))
				rules[i].Index = i
			}
			p, errs := compileSources(append(rules, toolRule(Prompt, "read")), Options{Home: home})
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			return p.Decide(toolCall("read", `{"path":`+jsonText(value)+`}`)).Action
		}
		value = strings.ToValidUTF8(value, "\uFFFD")
		sent := g.Match(value)
		if one(Allow) == Allow && !sent && pattern[0] != '~' && reading.SchemeLen(pattern) == 0 {
			t.Errorf("%q was allowed under %q, which does not match it", value, pattern)
		}
		if one(Deny) != Deny && sent {
			t.Errorf("%q was not denied under %q, which matches it", value, pattern)
		}
		if a := one(Deny, Allow); a == Allow {
			t.Errorf("%q was allowed under %q, which is denied", value, pattern)
		}
	})
}
