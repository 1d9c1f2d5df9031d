package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check/lint"
)

func TestIdleLimits(t *testing.T) {
	table := func(keys ...string) string { return "[[limit]]\n" + strings.Join(keys, "\n") + "\n" }
	const opens = "allow tool=read-* server=files limit=9/min;prompt tool=send;deny tool=drop-*"
	for name, c := range map[string]struct{ rules, limits, want string }{
		"of all":                        {opens, table("rate='100/min'"), ""},
		"of what is denied":             {opens, table("rate='100/min'", "tool=['drop-*', 'list']"), "12: no rule lets"},
		"on another server":             {"allow tool=a server=files", table("rate='100/min'", "server='mail'"), "5: no rule lets"},
		"on a server that may be":       {opens, table("rate='100/min'", "server='mail'"), ""},
		"of an excepted tool":           {"allow tool=* not.tool=a", table("rate='100/min'", "tool='a'"), "5: no rule lets"},
		"nothing is opened":             {"deny tool=*", table("rate='100/min'"), ""},
		"tighter than a rule's":         {opens, table("rate='9/hour'"), "1: at most 9 a minute is never reached"},
		"over other tools":              {opens, table("rate='9/hour'", "tool='read-a*'"), ""},
		"on some servers":               {opens, table("rate='9/hour'", "server='file?'"), "1: at most 9 a minute is never reached"},
		"in a shorter time":             {opens, table("rate='1/s'"), ""},
		"for each tool":                 {opens, table("rate='1/hour'", "per='tool'"), ""},
		"of a sum":                      {opens, table("rate='1/hour'", "sum='args.n'", "tool='*'"), ""},
		"two, the second is idle":       {"allow tool=*", table("rate='10/min'") + table("rate='20/s'", "tool='a'", "per='tool'"), "6: at most 20 a second is never reached"},
		"two, the first is idle":        {"allow tool=*", table("rate='20/min'", "tool='a'") + table("rate='10/min'", "tool=['b', '?']"), "4: at most 20 a minute is never reached"},
		"two of the same, said apart":   {"allow tool=a", table("rate='10/min'") + table("rate='10/min'", "tool='**'"), "6: at most 10 a minute is never reached"},
		"two that cross":                {"allow tool=*", table("rate='10/min'", "tool='a*'") + table("rate='20/min'", "tool='*b'"), ""},
		"of sums":                       {"allow tool=*", table("rate='10.5/day'", "sum='args.n'", "tool='a*'") + table("rate='11/day'", "sum='args.n'", "tool='ab'"), "8: at most 11 of args.n a day is never reached"},
		"a rule's on a resource is not": {"allow resource=** limit=9/min;allow tool=a", table("rate='1/hour'"), ""},
	} {
		var got []string
		for _, f := range run(t, rules(c.rules)+c.limits, lint.Options{}).Findings {
			if f.Code == lint.IdleLimit {
				got = append(got, fmt.Sprintf("%d: %s", f.Pos.Line, f.Message))
			}
		}
		if s := strings.Join(got, "; "); len(got) > 1 || !strings.HasPrefix(s, c.want) || c.want == "" && s != "" {
			t.Errorf("%s: %q, want %q", name, s, c.want)
		}
	}
}
