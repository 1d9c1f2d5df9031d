package policy_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy"
)

func TestAnnotated(t *testing.T) {
	yes, no := new(bool), new(bool)
	*yes = true
	for _, c := range []struct {
		readOnly, destructive, idempotent, openWorld *bool
		dangers                                      string
	}{
		{nil, nil, nil, nil, "not-read-only destructive not-idempotent open-world"},
		{no, yes, no, yes, "not-read-only destructive not-idempotent open-world"},
		{yes, nil, nil, nil, "open-world"},
		{yes, no, no, no, "not-idempotent"},
		{yes, yes, nil, no, "not-read-only destructive not-idempotent"}, // it contradicts itself
		{no, no, yes, no, "not-read-only"},
		{yes, nil, yes, no, ""},
	} {
		a := policy.AssurancesFromHints(c.readOnly, c.destructive, c.idempotent, c.openWorld)
		if got := strings.Join(a.DangerWords(), " "); got != c.dangers {
			t.Errorf("%q, want %q", got, c.dangers)
		}
		var back policy.Assurances
		if said, _ := json.Marshal(append(a.AssuranceWords(), "of another version")); json.Unmarshal(said, &back) != nil || back != a {
			t.Errorf("%v is read as %v", a.AssuranceWords(), back.AssuranceWords())
		}
		h := a.AnnotationHints()
		hint := func(name string) *bool { v := h[""+name]; return &v }
		if back := policy.AssurancesFromHints(hint("readOnlyHint"), hint("destructiveHint"), hint("idempotentHint"), hint("openWorldHint")); back != a {
			t.Errorf("%v as hints is %v", a.AssuranceWords(), back.AssuranceWords())
		}
	}
}

// A record whose annotations are no list of words is damaged.
func TestAssurancesAreAList(t *testing.T) {
	var a policy.Assurances
	if err := json.Unmarshal([]byte(`"read-only"`), &a); err == nil || a != 0 {
		t.Errorf("read as %v", a.AssuranceWords())
	}
}

// TestAnnotationsOnlyTighten: whatever a server says of a tool, the answer is never more
// open than without the rules that ask for it, nor than for a tool that was never listed.
func TestAnnotationsOnlyTighten(t *testing.T) {
	words := []string{"not-read-only", "destructive", "not-idempotent", "open-world"}
	for _, below := range []string{one("allow", "*", ""), one("prompt", "*", ""), one("prompt", "*", `ask = "out-of-band"`), one("deny", "*", ""), "", one("deny", "x", "") + one("allow", "*", "")} {
		for _, action := range []string{"deny", "prompt"} {
			for i, word := range words {
				without := layered(t, below)
				with := layered(t, one(action, "*", fmt.Sprintf("annotations = %q", word))+below)
				for said := range policy.Assurances(16) {
					call := policy.Call{Subject: policy.ToolSubject, Names: []string{"x"}, Server: "s", Facts: policy.Facts{Assurances: said}}
					was, is := without.Decide(&call), with.Decide(&call)
					if is.Action > was.Action {
						t.Errorf("%s beside %q opens: %v, not %v\n%s", action, word, is.Action, was.Action, below)
					}
					holds := said&(1<<i) == 0
					want := was.Action
					if holds && action == "deny" {
						want = policy.Deny
					} else if holds {
						want = min(want, policy.Prompt)
					}
					if is.Action != want {
						t.Errorf("%s beside %q, said %v: %v, want %v\n%s", action, word, said.AssuranceWords(), is.Action, want, below)
					}
				}
			}
		}
	}
}

func TestAnnotationsOfAny(t *testing.T) {
	p := layered(t, one("deny", "*", `annotations = ["destructive", "open-world"]`)+one("allow", "*", ""))
	for said, want := range map[policy.Assurances]policy.Action{
		0: policy.Deny, policy.ReadOnly | policy.Additive: policy.Deny, policy.ClosedWorld: policy.Deny, policy.Additive | policy.ClosedWorld: policy.Allow,
	} {
		call := policy.Call{Subject: policy.ToolSubject, Names: []string{"x"}, Server: "s", Facts: policy.Facts{Assurances: said}}
		if d := p.Decide(&call); d.Action != want {
			t.Errorf("%v: %v", said.AssuranceWords(), d.Action)
		}
		tr := p.Trace(&call)
		if got := tr.Steps[0].At.Got; want == policy.Allow && got != "not-read-only, not-idempotent" {
			t.Errorf("has %q", got)
		}
	}
	all := policy.Call{Subject: policy.ToolSubject, Names: []string{"x"}, Server: "s", Facts: policy.Facts{Assurances: policy.ReadOnly | policy.Additive | policy.Idempotent | policy.ClosedWorld}}
	tr := p.Trace(&all)
	if got := tr.Steps[0].At.Got; got != "none of these" {
		t.Errorf("has %q", got)
	}
	src := p.Sources()[0]
	if src.Calls[0].MissCondition(&all); p.Decide(&all).Action != policy.Allow {
		t.Error("missed, and denied")
	}
	if src.Calls[0].MeetCondition(&all); p.Decide(&all).Action != policy.Deny {
		t.Error("met, and not denied")
	}
}

// TestAnnotationsAndAlways: an answer's rule has no annotations, and answers the call.
func TestAnnotationsAndAlways(t *testing.T) {
	p := layered(t, one("prompt", "*", `annotations = "destructive"`)+one("allow", "*", ""))
	call := policy.Call{Subject: policy.ToolSubject, Names: []string{"x"}, Server: "s"}
	for _, action := range []policy.Action{policy.Allow, policy.Deny} {
		n, err := p.NarrowRule(*p.Decide(&call).Rule, &call, policy.Exact, action)
		if err != nil || strings.Contains(n.Text, "annotations") {
			t.Errorf("%v: %v %+v", action, err, n)
		}
	}
}
