package remember

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
)

// What the reference shows is what is written, and what the pages say of it.
func TestReference(t *testing.T) {
	b, err := os.ReadFile("../../../docs/approvals.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	block := func(kind string) string {
		m := regexp.MustCompile("(?ms)^```" + kind + "\n(.*?)^```$").FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("no %s", kind)
		}
		return m[1]
	}
	call := policy.Call{Server: "filesystem", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"write_file"}, Args: []byte(strings.TrimSpace(block("json")))}
	k, q := ask(t, block("toml before"), call)
	k.Now = func() time.Time { return time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC) }
	offers, whyNot := k.Offers(q)
	if len(offers) != 4 {
		t.Fatal(whyNot)
	}
	shown := regexp.MustCompile(`\n +↳`).ReplaceAllString(text, "")
	for _, o := range offers {
		if !strings.Contains(shown, o.Title) {
			t.Errorf("the reference does not say %s", o.Title)
		}
	}
	if !strings.Contains(shown, offers[2].Example) {
		t.Errorf("the reference does not show %s", offers[1].Example)
	}
	q.Session = true
	offers, _ = k.Offers(q)
	for _, o := range view.ForSession(offers) {
		if !strings.Contains(shown, "  "+o.Session+"\n") {
			t.Errorf("the reference does not offer %s", o.Session)
		}
	}
	note, err := k.Write(t.Context(), q, "folder", gate.AllowAlways)
	if err != nil || !strings.Contains(text, "`"+note+"`") {
		t.Errorf("%q, %v", note, err)
	}
	if got, want := holds(t, k.Policy), block("toml after"); got != want {
		t.Errorf("wrote\n%s\nwant\n%s", got, want)
	}
}
