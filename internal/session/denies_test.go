package session

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/policy"
)

// A rule denies a tool if it denies a call that carries nothing, at this hour. Of what the session may see later the
// worst is assumed.
func TestDenies(t *testing.T) {
	day := func(in int) string {
		return fmt.Sprintf(`when = { from = "00:00", to = "24:00", days = [%q] }`, strings.ToLower(time.Now().AddDate(0, 0, in).Weekday().String()[:3]))
	}
	for _, tt := range []struct {
		condition string
		want      bool
	}{
		{"", true},
		{`find = ["secret"]`, false}, // as the policy has it that clawai init writes
		{`find = ["secret"]` + "\n" + `after = ["private"]`, false},
		{`after = ["private"]`, true},
		{`args.query = "*password*"`, false},
		{day(3), false},
	} {
		s, _, _ := sessions(t, "[[rule]]\naction = \"deny\"\ntool = \"WebSearch\"\n"+tt.condition+"\n\n[[rule]]\naction = \"allow\"\ntool = \"*\"\n", nil)
		one := opened(t, s, Peer{Name: "claude-code"})
		calls := []policy.Call{{Server: "claude-code", Method: builtin.Method, Subject: policy.ToolSubject, Names: []string{"WebSearch"}, Args: []byte(`{"query":""}`)}}
		if got := one.Denies(calls); got != tt.want {
			t.Errorf("%s: denies %v", tt.condition, got)
		}
		if calls[0].Screened || !calls[0].At.IsZero() {
			t.Error("the caller's call has changed")
		}
	}
}
