package redact

import (
	"encoding/json"
	"strings"
	"testing"
)

// What other rooms keep is redacted as the record is.
func TestScrub(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`{"password":"` + plain + `","user":"mé\n"}`, `{"password":"[redacted:member:7]","user":"mé\n"}`},
		{"{\"path\":\"/a\u202eb\"}", "{\"path\":\"/a\u202eb\"}"},
		{`not json ` + github, `"not json [redacted:github:44]"`},
		{``, `""`},
	} {
		got := ScrubJSON([]byte(tt.in))
		if string(got) != tt.want || !json.Valid(got) {
			t.Errorf("%s\n got %s\nwant %s", tt.in, got, tt.want)
		}
	}
	if got := ScrubJSON(nil); got != nil {
		t.Errorf("nil became %q", got)
	}
	for in, want := range map[string]string{
		"":                                "",
		"write_file":                      "write_file",
		"a \"quoted\" \\ \x1b[2J é":       "a \"quoted\" \\ \x1b[2J é",
		"https://me:" + plain + "@h/p":    "https://me:[redacted:password:7]@h/p",
		"curl -H 'X: " + github + "' now": "curl -H 'X: [redacted:github:44]' now",
		"\xff":                            `\xff`,
	} {
		if got := ScrubText(in); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
	if got := ScrubText(strings.Repeat("x", MaxText+1)); len(got) > MaxText+100 || !strings.Contains(got, "[cut:4097:hmac:") {
		t.Errorf("a long text is kept: %d bytes", len(got))
	}
}
