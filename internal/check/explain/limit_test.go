package explain_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check/explain"
	"github.com/clawai/clawai/policy"
)

// TestLimit: of a rule that matches it is said how often it does.
func TestLimit(t *testing.T) {
	for limit, want := range map[string]string{
		`"2/hour"`: "limit: at most 2 an hour, and more are denied; what was counted is not looked at",
		`{ rate = "3/s", per = "tool", over = "prompt" }`: "limit: at most 3 a second for each tool, and a person is asked about more; what was counted is not looked at",
		`{ rate = "99.50/day", sum = "args.amount" }`:     "limit: at most 99.5 of args.amount a day, and more are denied; what was counted is not looked at",
	} {
		p, err := policy.Parse("p.toml", []byte("[[rule]]\naction = \"allow\"\ntool = \"send\"\nlimit = "+limit+"\n"), policy.Options{})
		if err != nil {
			t.Fatal(err)
		}
		e := explain.DescribeCalls(p, []policy.Call{tool("send", "x", "{}")})
		if out := text(t, e, false); !strings.Contains(out, "yes    p.toml:1  allow\n       "+want+"\n") {
			t.Errorf("%s:\n%s", limit, out)
		}
		raw, err := json.Marshal(e.Document().Rule)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(limit, "tool") != strings.Contains(string(raw), `"limit":{"calls":3,"seconds":1,"per":"tool","over":"prompt"}`) {
			t.Errorf("%s: %s", limit, raw)
		}
		if strings.Contains(limit, "sum") != strings.Contains(string(raw), `"limit":{"calls":0,"sum":"args.amount","most":"99.5","seconds":86400,"per":"rule","over":"deny"}`) {
			t.Errorf("%s: %s", limit, raw)
		}
		other := explain.DescribeCalls(p, []policy.Call{tool("other", "x", "{}")})
		if out := text(t, other, true); strings.Contains(out, "limit") {
			t.Errorf("%s: of a rule that does not match:\n%s", limit, out)
		}
	}
}
