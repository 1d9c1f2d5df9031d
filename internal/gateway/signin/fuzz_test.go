package signin

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzClaims: whatever claims say, groups that are not known are none, and no text can break a line or
// pass for an address that was not verified.
func FuzzClaims(f *testing.F) {
	for _, seed := range []string{
		`{"groups":["a","b"],"name":"Ana"}`, `{"realm_access":{"roles":["a"]}}`, `{"_claim_names":{"groups":"s"},"groups":["a"]}`, `{"hasgroups":"true"}`,
		`{"email":"a@b","email_verified":"true"}`, `{"groups":"a\u0000"}`, `{"groups":[["a"]]}`, `{"a":{"b":{"c":["x"]}}}`,
	} {
		f.Add(seed, "groups", "{}")
	}
	f.Add(`{"a":{"b":["x"]}}`, "a.b", `{"a.b":["y"]}`)
	f.Fuzz(func(t *testing.T, token, name, more string) {
		var first, second claims
		if json.Unmarshal([]byte(token), &first) != nil || json.Unmarshal([]byte(more), &second) != nil {
			return
		}
		p := newPrincipal("https://idp.example", "7", name, first, second)
		if !p.GroupsKnown && len(p.Groups) > 0 || len(strings.Join(p.Groups, "\n")) > maxGroups {
			t.Errorf("%+v", p)
		}
		for _, text := range append([]string{p.Name}, p.Groups...) {
			if text == "" || len(text) > maxText || strings.ContainsAny(text, "\x00\n\r\x1b") {
				t.Errorf("%q", text)
			}
		}
		if strings.Contains(p.Name, "@") && p.Name != p.Email {
			t.Errorf("%+v", p)
		}
	})
}
