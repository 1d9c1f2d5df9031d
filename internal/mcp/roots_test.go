package mcp

import (
	"slices"
	"strings"
	"testing"
)

func TestRoots(t *testing.T) {
	for _, c := range []struct {
		result, responses string
		want              []string
	}{
		{`{"roots":[{"uri":"file:///srv/app","name":"App"},{"uri":"file:///srv/./lib/"}]}`, ``, []string{"/srv/app", "/srv/lib"}},
		{`{"roots":[{"uri":"file:///srv/a%20b"},{"uri":"file://host/x"},{"uri":"~/x"},{"uri":1},{},7]}`, ``, []string{"file:///srv/a%20b", "file://host/x", "~/x", "", "", ""}},
		{``, `{"a":{"roots":[{"uri":"file:///srv"}]},"b":{"action":"cancel"}}`, []string{"/srv"}},
		{`{"roots":[]}`, `{}`, nil},
		{``, ``, nil},
		{`{"roots":{}}`, `[]`, nil},
	} {
		if got := DeclaredRoots([]byte(c.result), []byte(c.responses)); !slices.Equal(got, c.want) {
			t.Errorf("%s %s: %q, want %q", c.result, c.responses, got, c.want)
		}
	}
	many := `{"roots":[` + strings.Repeat(`{"uri":"file:///srv"},`, 1000) + `{"uri":"file:///other"}]}`
	if got := DeclaredRoots([]byte(many), nil); len(got) != maxRoots+1 || got[maxRoots] != "" {
		t.Errorf("%d of many", len(got))
	}
}
