package gate_test

import (
	"testing"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
)

func TestNewDenial(t *testing.T) {
	what := policy.Call{Method: "tools/call", Names: []string{"t"}}
	for code, want := range map[gate.Code]struct {
		reason, description string
		unanswered          bool
	}{
		gate.CodeDeniedByRule: {description: "no"},
		gate.CodeNotAnswered:  {reason: "because", description: "no", unanswered: true},
		gate.CodeNobodyToAsk:  {reason: "because", description: "no", unanswered: true},
		gate.CodeLabels:       {reason: "because", description: "no"},
	} {
		v := gate.Verdict{Stage: gate.StagePolicy, Code: code, Reason: "because", Hint: "/h", Record: "r", Rule: &policy.Rule{Description: "no"}}
		d := v.NewDenial(what)
		if d.Reason != want.reason || d.Description != want.description || d.Unanswered != want.unanswered ||
			d.What.Names[0] != "t" || d.Code != code || d.Stage != string(gate.StagePolicy) || d.Hint != "/h" || d.Record != "r" {
			t.Errorf("%s: %+v", code, d)
		}
	}
	v := gate.Verdict{Code: gate.CodeNoRule, Reason: "no rule"}
	if d := v.NewDenial(what); d.Description != "" || d.Reason != "no rule" {
		t.Errorf("%+v", d)
	}
}
