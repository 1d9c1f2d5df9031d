package prove_test

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/policy"
)

// A rule about texts that hold JSON opens what stands in them. Where one stands beside
// a change, a comparison says that it does not know; and a proof that nothing reaches
// it is about texts as they are written.
func TestTextsThatHoldJSON(t *testing.T) {
	before := rules(`deny tool=a args.q=x`, `allow tool=a args.q={**`, `deny tool=a`)
	after := rules(`allow tool=a args.q={**`, `deny tool=a`)
	call := &policy.Call{Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"a"}, Args: []byte(`{"q":"{\"k\":\"x\"}"}`)}
	if b, a := parse(t, before).Decide(call), parse(t, after).Decide(call); b.Action != policy.Deny || a.Action != policy.Allow {
		t.Fatalf("%v and %v: the case shows nothing", b.Action, a.Action)
	}
	undecided := func(before, after string) bool {
		for _, c := range prove.Difference(parse(t, before), parse(t, after), prove.Options{}) {
			if c.Undecided && strings.Contains(c.Reason, "JSON") {
				return true
			}
		}
		return false
	}
	if !undecided(before, after) {
		t.Error("a text that holds JSON is opened, and the comparison does not say that it may be")
	}
	other := rules(`deny tool=b`)
	if undecided(after, after) || undecided(after, other+after) || undecided(rules(`deny tool=a args.q=x`), rules(`deny tool=a`)) {
		t.Error("undecided where no rule about JSON stands beside the change")
	}
	f := prove.Reach(parse(t, rules(`allow tool=a args.q=**k**`, `deny tool=a args.q={"k"**`)), prove.Options{})[1]
	if f.Status != prove.Covered || !f.AsWritten {
		t.Errorf("%+v", f)
	}
}

// A boolean is perhaps meant by other words: calls that have those are compared, and
// reach the rules that ask for it.
func TestBooleanWords(t *testing.T) {
	deny, yes, rest := "deny tool=a args.f=true", "allow tool=a args.f=yes", "allow tool=a"
	found := false
	for _, c := range prove.Difference(parse(t, rules(yes, deny, rest)), parse(t, rules(deny, yes, rest)), prove.Options{}) {
		found = found || !c.Undecided && c.Old.Action == policy.Allow && c.New.Action == policy.Deny
	}
	if !found {
		t.Error(`"yes" is allowed before and denied after, and no call was found that shows it`)
	}
}
