package mcp

import (
	"strings"
	"testing"
)

func TestListsTold(t *testing.T) {
	for result, want := range map[string]string{
		`{"capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":false},"resources":{"subscribe":true,"listChanged":true}}}`: "tools resources",
		`{"capabilities":{"tools":{"listChanged":"true"}}}`: "",
		`{}`: "",
	} {
		if got := strings.Join(ListsTold([]byte(result)), " "); got != want {
			t.Errorf("%s: %q", result, got)
		}
	}
}

func TestFurther(t *testing.T) {
	for params, want := range map[string]bool{"": false, `{}`: false, `{"cursor":null}`: false, `{"cursor":""}`: true, `{"cursor":"x"}`: true} {
		if got := HasCursor([]byte(params)); got != want {
			t.Errorf("%s: %v", params, got)
		}
	}
}
