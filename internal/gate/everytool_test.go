package gate

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clawai/clawai/policy"
)

// TestALimitOverAllTools: it counts beside those of rules, and a call pays every one
// or none.
func TestALimitOverAllTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		s := session(t, j, ruleText(t, `
[[limit]]
rate = "3/min"
description = "Whatever tool"
[[rule]]
action = "allow"
tool = "send"
limit = "1/hour"
[[rule]]
action = "allow"
tool = "*"
`))
		for i, step := range []struct{ tool, want, reason string }{
			{"send", "forward", ""},
			{"send", CodeLimit, "at most 1 an hour; try again in 60 min"}, // and is not counted by the other
			{"read", "forward", ""}, {"list", "forward", ""},
			{"read", CodeLimit, "at most 3 a minute; try again in 56 s"},
			{"send", CodeLimit, "at most 1 an hour; try again in 60 min"},
		} {
			x := j.call(step.tool)
			s.Do(context.Background(), x)
			synctest.Wait()
			v := j.verdicts[x]
			if got := j.became(x); got != step.want || v.Reason != step.reason {
				t.Errorf("%d: %s became %s: %s", i, step.tool, got, v.Reason)
			}
			if step.tool == "read" && step.want == CodeLimit && (v.Rule == nil || v.Rule.Description != "Whatever tool" || v.Action != policy.Deny) {
				t.Errorf("denied by %+v", v.Rule)
			}
			time.Sleep(time.Second)
		}
		time.Sleep(time.Minute)
		x := j.call("read")
		if s.Do(context.Background(), x); j.became(x) != "forward" {
			t.Errorf("after a minute: %s", j.became(x))
		}
	})
}
