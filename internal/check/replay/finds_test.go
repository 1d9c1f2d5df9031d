package replay_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check/replay"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/policy"

	"github.com/clawai/clawai/internal/testing/slow"
)

const noMarks = `
[[rule]]
action = "deny"
tool = "*"
find = ["marker"]
[[rule]]
action = "allow"
tool = "read"
[[rule]]
action = "deny"
tool = "post"
find = ["secret"]
[[rule]]
action = "allow"
tool = "post"
[[rule]]
action = "deny"
tool = "other"
find = ["card"]
`

// found is a call with what was looked for and found in its arguments.
func found(name, looked string, finds ...string) *event.Event {
	ev := toolCall("allow", name, `{"text":"x"}`)
	ev.Looked, ev.Finds = strings.Fields(looked), finds
	return ev
}

func TestCompareByFinds(t *testing.T) {
	for _, c := range []struct {
		name string
		ev   *event.Event
		want replay.Class
		why  replay.Why
	}{
		{"nothing was found", found("read", "marker"), replay.Unchanged, ""},
		{"something was", found("read", "marker", "marker 1 /text"), replay.NewlyDenied, ""},
		{"of another kind", found("read", "marker hidden", "hidden 2 /text", "hidden 1 /a", "and 3 more"), replay.Unchanged, ""},
		{"nobody looked", found("read", ""), replay.NotJudged, replay.Unrecorded},
		{"nor for what another rule asks", found("post", "marker"), replay.NotJudged, replay.Unrecorded},
		{"for all of it", found("post", "marker secret"), replay.Unchanged, ""},
		{"for one, which was found, and either denies", found("post", "secret", "secret 1 /text"), replay.NewlyDenied, ""},
		{"found is enough", found("post", "marker", "marker 1 /text"), replay.NewlyDenied, ""},
		{"nothing to look at", toolCall("allow", "read", `{}`), replay.Unchanged, ""},
		{"but beside the arguments", &event.Event{Kind: event.Decision, Server: "s", Method: "tools/call", Subject: "tool", Names: []string{"read"},
			Extra: []byte(`{"note":"x"}`), Bytes: 10, Policy: "allow"}, replay.NotJudged, replay.Unrecorded},
		{"denied anyway", toolCall("deny", "none", `{"text":"x"}`), replay.Unchanged, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if x := one(t, noMarks, audit.Options{}, c.ev); x.Class != c.want || x.Why != c.why {
				t.Errorf("%s (%s), want %s (%s): %+v", x.Class, x.Why, c.want, c.why, x)
			}
		})
	}
}

// What rules take out of a server's request decides nothing, and any kind holds for all of
// those that there are.
func TestCompareOfEveryKind(t *testing.T) {
	const redacts = "[[rule]]\naction = \"redact\"\nsampling = \"**\"\nfind = \"card\"\n[[rule]]\naction = \"prompt\"\nsampling = \"**\"\n"
	sampling := &event.Event{Kind: event.Decision, Server: "s", Method: "sampling/createMessage", Subject: "sampling", Names: []string{"x"}, Bytes: 9, Policy: "prompt"}
	if x := one(t, redacts, audit.Options{}, sampling); x.Class != replay.Unchanged {
		t.Errorf("%+v", x)
	}
	const anything = "[[rule]]\naction = \"deny\"\ntool = \"*\"\nfind = \"*\"\n[[rule]]\naction = \"allow\"\ntool = \"*\"\n"
	for want, ev := range map[replay.Class]*event.Event{
		replay.NotJudged:   found("read", "marker secret"),
		replay.Unchanged:   found("read", strings.Join(policy.FindingKinds(), " ")),
		replay.NewlyDenied: found("read", "secret", "secret 1 /text"),
	} {
		if x := one(t, anything, audit.Options{}, ev); x.Class != want {
			t.Errorf("%+v, want %s", x, want)
		}
	}
}

// Whatever a record does not say of what was found, the answer to it is that to every call
// which it can be of, or none; and it is none only where the answers differ, or where rules
// that are in doubt might cancel each other.
func TestFindsAreNeverGuessed(t *testing.T) {
	slow.Test(t)
	r := rand.New(rand.NewPCG(5, 6))
	kinds := []string{"secret", "marker", "card"}
	subset := func(of int) (all []string) {
		for i, kind := range kinds {
			if of&(1<<i) != 0 {
				all = append(all, kind)
			}
		}
		return all
	}
	counts := map[string]int{}
	for range 3000 {
		var src strings.Builder
		doubts := 0
		for range 1 + r.IntN(5) {
			action := []string{"deny", "prompt", "allow"}[r.IntN(3)]
			fmt.Fprintf(&src, "[[rule]]\naction = %q\ntool = %q\n", action, []string{"*", "read", "w*"}[r.IntN(3)])
			if r.IntN(3) == 0 {
				fmt.Fprintf(&src, "args.a = %q\n", []string{"x", "y*"}[r.IntN(2)])
			}
			if action != "allow" && r.IntN(2) == 0 {
				fmt.Fprintf(&src, "find = [%s]\n", quoted(subset(1+r.IntN(7))))
				doubts++
			}
		}
		looked, truth := r.IntN(8), r.IntN(8)
		name := []string{"read", "write"}[r.IntN(2)]
		ev := found(name, strings.Join(subset(looked), " "))
		ev.Args = []byte(`{"a":"x"}`)
		for _, kind := range subset(looked & truth) {
			ev.Finds = append(ev.Finds, kind+" 1 /a")
		}
		j := judgeOf(t, src.String())
		var answers []policy.Action
		for may := range 8 {
			if may&looked != truth&looked {
				continue
			}
			call := policy.Call{Server: "s", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{name}, Args: ev.Args, Finds: subset(may), Screened: true}
			if a := j.Policy().Decide(&call).Action; !slices.Contains(answers, a) {
				answers = append(answers, a)
			}
		}
		x := j.CompareEntry(&event.Entry{Event: *ev})
		switch {
		case x.Class != replay.NotJudged && !slices.Equal(answers, []policy.Action{x.Action}):
			t.Fatalf("%s of a record, of its calls %v\n%s\n%+v", x.Action, answers, src.String(), ev)
		case x.Class != replay.NotJudged && looked != 7:
			counts["judged by what there is"]++
		case x.Class == replay.NotJudged && len(answers) == 1 && doubts < 2:
			t.Fatalf("not judged, and each of its calls gets %v\n%s\n%+v", answers, src.String(), ev)
		case x.Class == replay.NotJudged:
			counts["not judged"]++
		}
	}
	if counts["judged by what there is"] < 500 || counts["not judged"] < 200 {
		t.Errorf("%v: the test shows too little", counts)
	}
}

func quoted(words []string) string { return `"` + strings.Join(words, `", "`) + `"` }
