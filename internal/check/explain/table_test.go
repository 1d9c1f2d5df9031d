package explain_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check/explain"
	"github.com/clawai/clawai/policy"
)

// TestLimitOverAllTools: of a call that is let through it is said what it counts against.
func TestLimitOverAllTools(t *testing.T) {
	layer, err := policy.Parse("org.toml", []byte("[[limit]]\nrate = \"9/s\"\nper = \"tool\"\ntool = \"send\"\n"), policy.Options{Layer: "organisation"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Parse("p.toml", []byte("[[rule]]\naction = \"allow\"\ntool = [\"send\", \"read\"]\n[[limit]]\nrate = \"100/min\"\ndescription = \"Whatever tool\"\n"),
		policy.Options{Above: []*policy.Policy{layer}})
	if err != nil {
		t.Fatal(err)
	}
	const (
		all  = "limit  p.toml:4  at most 100 a minute, and more are denied; what was counted is not looked at \"Whatever tool\"\n"
		each = "limit  org.toml:1  at most 9 a second for each tool, and more are denied; what was counted is not looked at\n"
		doc  = `{"file":"p.toml","line":4,"description":"Whatever tool","limit":{"calls":100,"seconds":60,"per":"all","over":"deny"}}`
	)
	for name, want := range map[string]string{"send": each + all, "read": all, "other": ""} {
		e := explain.DescribeCalls(p, []policy.Call{tool(name, "x", "{}")})
		out := text(t, e, false)
		if want == "" && strings.Contains(out, "limit") || !strings.Contains(out, want+"\n") {
			t.Errorf("%s:\n%s", name, out)
		}
		raw, err := json.Marshal(e.Document().Calls[0].Limits)
		if err != nil || strings.Contains(string(raw), doc) != (want != "") {
			t.Errorf("%s: %s %v", name, raw, err)
		}
	}
}
