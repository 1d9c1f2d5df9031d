package replay_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/replay"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"

	"github.com/clawai/clawai/internal/testing/slow"
)

const replyRules = `
[[rule]]
on = "reply"
action = "allow"
tool = "read"
args.path = "/home/user/testdata/**"
find = ["secret"]
[[rule]]
on = "reply"
action = "redact"
tool = "*"
find = ["secret"]
[[rule]]
on = "reply"
action = "deny"
tool = "*"
find = ["hidden"]
[[rule]]
on = "reply"
action = "prompt"
tool = "get"
[[rule]]
on = "reply"
action = "fence"
tool = "fetch"
[[rule]]
on = "reply"
action = "warn"
tool = "fetch"
find = ["card"]
[[rule]]
on = "list"
action = "deny"
tool = "delete_*"
[[rule]]
on = "list"
action = "prompt"
tool = "*"
find = ["comment"]
[[rule]]
on = "list"
action = "redact"
tool = "*"
find = ["control"]
[[rule]]
action = "allow"
tool = "*"
`

// asked is a call and its answer, which went on as it came.
func asked(name, args string, kinds string, finds ...string) (call, answer *event.Event) {
	call = toolCall("allow", name, args)
	call.Record = "r-1"
	return call, &event.Event{Kind: event.Outcome, Ref: "r-1", Record: "r-2", Server: "s", Method: "tools/call", Looked: strings.Fields(kinds), Finds: finds}
}

// answers are what becomes of what came back.
func answers(t *testing.T, src string, events ...*event.Event) *replay.Answers {
	t.Helper()
	r, err := replay.Run(judgeOf(t, src), func(yield func(event.Entry, error) bool) {
		for _, ev := range events {
			_ = yield(event.Entry{Event: *ev, Session: "r"}, nil)
		}
	}, 9)
	if err != nil {
		t.Fatal(err)
	}
	return r.Answers
}

func TestCompareReplies(t *testing.T) {
	const all = "secret hidden card fence"
	withheld := func(ev *event.Event) {
		ev.Kind, ev.Stage, ev.Code, ev.Decision = event.Decision, "reply", "withheld", "deny"
	}
	altered := func(words ...string) func(*event.Event) {
		return func(ev *event.Event) { ev.Code, ev.Stage, ev.Decision, ev.Altered = "altered", "reply", "allow", words }
	}
	held := func(ev *event.Event) {
		ev.Kind, ev.Stage, ev.Code, ev.Decision = event.Decision, "ask", "not_answered", "deny"
	}
	for _, c := range []struct {
		name       string
		tool, args string
		looked     string
		finds      []string
		was        func(*event.Event)
		want       string // "" for nothing to judge
	}{
		{"nothing found", "read", "{}", all, nil, nil, "unchanged allow"},
		{"to be taken out", "read", "{}", all, []string{"secret 2 /result/a"}, nil, "newly_redacted redact secret"},
		{"taken out then too", "read", "{}", all, []string{"secret 2 /result/a"}, altered("redact secret"), "unchanged redact secret"},
		{"an exception, by the call", "read", `{"path":"/home/user/testdata/a"}`, all, []string{"secret 1 /a"}, altered("redact secret"), "newly_allowed allow"},
		{"withheld, whatever else", "read", "{}", "hidden", []string{"hidden 1 /a"}, nil, "newly_withheld deny"},
		{"withheld then", "read", "{}", all, []string{"hidden 1 /a"}, withheld, "unchanged deny"},
		{"no longer withheld", "read", "{}", all, []string{"card 1 /a"}, withheld, "newly_allowed allow"},
		{"asked about", "get", "{}", all, nil, nil, "newly_asked prompt"},
		{"asked about then", "get", "{}", all, nil, held, "unchanged prompt"},
		{"asked about, and taken out", "get", "{}", all, []string{"secret 1 /a"}, held, "newly_asked prompt, redact secret"},
		{"fenced and warned of", "fetch", "{}", all, []string{"card 1 /a"}, altered("fence"), "newly_fenced fence, warn"},
		{"in another order", "fetch", "{}", all, []string{"card 1 /a"}, altered("warn", "fence"), "unchanged fence, warn"},

		{"nobody looked", "read", "{}", "", nil, nil, "not_judged unrecorded"},
		{"not for all of it", "read", "{}", "secret", nil, nil, "not_judged unrecorded"},
		{"not for what would add nothing", "read", "{}", "secret hidden", nil, nil, "unchanged allow"},
		{"a card counts only there", "fetch", "{}", "secret hidden", nil, altered("fence"), "not_judged unrecorded"},
		{"found is enough to withhold", "get", "{}", "", []string{"hidden 1 /a"}, withheld, "unchanged deny"},
		{"a pack of then says nothing", "read", "{}", "hidden pack:mine", []string{"pack:mine 1 /a"}, nil, "not_judged unrecorded"},
		{"the path is not recorded", "read", `{"path":"[redacted:token:9]"}`, all, []string{"secret 1 /a"}, nil, "not_judged redacted"},
		{"nor does it matter", "read", `{"path":"[redacted:token:9]"}`, all, nil, nil, "unchanged allow"},
		{"nor to another tool", "read2", `{"path":"[redacted:token:9]"}`, all, []string{"secret 1 /a"}, nil, "newly_redacted redact secret"},
		{"could not be looked at", "read", "{}", all, nil, func(ev *event.Event) { withheld(ev); ev.Reason = "too deep" }, "not_judged uncarried"},
		{"an array", "read", "{}", all, nil, func(ev *event.Event) { ev.Method = "batch" }, "not_judged several"},
		{"the call is older", "read", "{}", all, nil, func(ev *event.Event) { ev.Ref = "r-0" }, "not_judged no_call"},
		{"an answer that has calls", "read", "{}", all, nil, func(ev *event.Event) { ev.Kind, ev.Policy = event.Decision, "deny" }, ""},
		{"the session was over", "read", "{}", all, nil, func(ev *event.Event) { ev.Kind, ev.Stage = event.Decision, "gate" }, ""},
		{"of the hub itself", "read", "{}", all, nil, func(ev *event.Event) { ev.Server, ev.ServerGuess = "", "hub" }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			call, answer := asked(c.tool, c.args, c.looked, c.finds...)
			if c.was != nil {
				c.was(answer)
			}
			got := ""
			if a := answers(t, replyRules, call, answer); a != nil {
				for class, n := range a.Counts {
					got = fmt.Sprint(class, " ")
					if class == replay.NotJudged {
						got += string(a.Examples[0].Why)
					} else if len(a.Examples) > 0 {
						got += a.Examples[0].Is
					}
					if n != 1 || a.Total != 1 {
						t.Errorf("%+v", a)
					}
				}
				if a.Counts[replay.Unchanged] == 1 {
					j := judgeOf(t, replyRules)
					var rs replay.Replies
					rs.TakeReplies(&event.Entry{Event: *call})
					x := j.CompareReply(&rs.TakeReplies(&event.Entry{Event: *answer})[0])
					got += x.Is
				}
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	if a := answers(t, "", toolCall("allow", "read", "{}")); a != nil {
		t.Errorf("nothing came back: %+v", a)
	}
	call, answer := asked("read", "{}", "secret")
	altered("redact secret")(answer)
	if a := answers(t, "", call, answer); a == nil || a.Counts[replay.NewlyAllowed] != 1 || !a.HasChanges() {
		t.Errorf("without a rule: %+v", a)
	}
}

// Each entry of a list is judged by what was found in it.
func TestCompareLists(t *testing.T) {
	list := func(altered, finds []string, declared ...string) *event.Event {
		return &event.Event{Kind: event.Listed, Ref: "r-0", Record: "r-2", Server: "s", Method: "tools/list", Declared: declared,
			Looked: []string{"comment", "control", "fence"}, Finds: finds, Altered: altered}
	}
	at := func(kind string, n int) string { return fmt.Sprintf("%s 1 /result/tools/%d/description", kind, n) }
	for _, c := range []struct {
		name string
		ev   *event.Event
		want string // by entry
	}{
		{"as they came", list(nil, nil, "a", "b"), "unchanged unchanged"},
		{"left out", list(nil, nil, "a", "delete_all"), "unchanged newly_withheld"},
		{"left out then", list([]string{"leave out delete_all"}, nil, "a", "delete_all"), "unchanged unchanged"},
		{"left out for nothing now", list([]string{"leave out a"}, nil, "a"), "newly_allowed"},
		{"asked about is left out", list([]string{"leave out b"}, []string{at("comment", 0), at("comment", 1)}, "a", "b"), "newly_withheld unchanged"},
		{"shown as escapes", list(nil, []string{at("control", 1)}, "a", "b"), "unchanged newly_redacted"},
		{"shown as escapes then", list([]string{"redact b"}, []string{at("control", 1)}, "a", "b"), "unchanged unchanged"},
		{"left out for its name, or by a rule", list([]string{"leave out a"}, []string{at("control", 0)}, "a"), "not_judged:uncarried"},
		{"not as approved", list([]string{"leave out a (text)", "keep b as approved"}, nil, "a", "b"), "not_judged:pinned not_judged:pinned"},
		{"not every place is on record", list(nil, []string{at("control", 1), "and 3 more"}, "a", "delete_b"), "not_judged:unrecorded newly_withheld"},
		{"nor every name", list(nil, nil, "a", "[cut:9:x]"), "unchanged not_judged:cut"},
	} {
		j := judgeOf(t, replyRules)
		var rs replay.Replies
		var got []string
		for _, r := range rs.TakeReplies(&event.Entry{Event: *c.ev}) {
			x := j.CompareReply(&r)
			word := string(x.Class)
			if x.Why != "" {
				word += ":" + string(x.Why)
			}
			got = append(got, word)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
	hides, err := replay.NewJudge("new.toml", []byte("[[rule]]\naction = \"allow\"\ntool = \"a\"\n"), policy.Options{HideDenied: true})
	if err != nil {
		t.Fatal(err)
	}
	var rs replay.Replies
	all := rs.TakeReplies(&event.Entry{Event: *list(nil, nil, "a", "b")})
	if a, b := hides.CompareReply(&all[0]), hides.CompareReply(&all[1]); a.Class != replay.Unchanged || b.Class != replay.NewlyWithheld {
		t.Errorf("with what cannot be used left out: %+v %+v", a, b)
	}
}

// Whatever a record does not say of an answer, what is said of it holds of every answer that
// it can be of; and nothing is said only where these differ.
func TestFoundInRepliesIsNeverGuessed(t *testing.T) {
	slow.Test(t)
	r := rand.New(rand.NewPCG(7, 8))
	kinds := []string{"secret", "hidden", "card"}
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
		for range 1 + r.IntN(4) {
			action := []string{"deny", "prompt", "redact", "fence", "warn", "allow"}[r.IntN(6)]
			fmt.Fprintf(&src, "[[rule]]\non = \"reply\"\naction = %q\ntool = %q\n", action, []string{"*", "read", "w*"}[r.IntN(3)])
			if action == "redact" || r.IntN(2) == 0 {
				fmt.Fprintf(&src, "find = [%s]\n", quoted(subset(1+r.IntN(7))))
			}
		}
		looked, truth := r.IntN(8), r.IntN(8)
		var finds []string
		for _, kind := range subset(looked & truth) {
			finds = append(finds, kind+" 1 /result/a")
		}
		call, answer := asked([]string{"read", "write"}[r.IntN(2)], "{}", strings.Join(subset(looked), " "), finds...)
		j := judgeOf(t, src.String())
		told := func(d policy.Decision) string {
			words := []string{d.Action.String()}
			for _, a := range d.Alters {
				word := a.Rule.Action.String()
				if a.Rule.Action == policy.Redact {
					word += a.Kind
				}
				words = append(words, word)
			}
			slices.Sort(words)
			return fmt.Sprint(slices.Compact(words))
		}
		var may []string
		for has := range 8 {
			if has&looked != truth&looked {
				continue
			}
			c := policy.Call{Server: "s", Method: "tools/call", Subject: policy.ToolSubject, Names: call.Names}
			if s := told(j.Policy().DecideReply(policy.OnReply, []policy.Call{c}, subset(has))); !slices.Contains(may, s) {
				may = append(may, s)
			}
		}
		var rs replay.Replies
		rs.TakeReplies(&event.Entry{Event: *call})
		back := rs.TakeReplies(&event.Entry{Event: *answer})
		d, why := j.JudgeReply(&back[0])
		switch {
		case why == "" && !slices.Equal(may, []string{told(d)}), why != "" && len(may) == 1:
			t.Fatalf("%s (%s), of the answers it can be of %v\n%s\n%+v", told(d), why, may, src.String(), answer)
		case why != "":
			counts["not judged"]++
		case looked != 7:
			counts["judged by what there is"]++
		}
		if x := j.CompareReply(&back[0]); why == "" && x.Action != check.StrictestAction(&d) {
			t.Fatalf("%+v of %+v", x, d)
		}
	}
	if counts["not judged"] < 200 || counts["judged by what there is"] < 500 {
		t.Errorf("%v: the test shows too little", counts)
	}
}

// Calls that are never answered take no more than so much memory.
func TestCallsThatAreNeverAnswered(t *testing.T) {
	var rs replay.Replies
	for i := range 1 << 13 {
		rs.TakeReplies(&event.Entry{Event: event.Event{Kind: event.Decision, Decision: "allow", Policy: "allow", Record: fmt.Sprint(i), Server: "s",
			Method: "tools/call", Subject: "tool", Names: []string{"get"}}})
	}
	j := judgeOf(t, replyRules)
	for ref, want := range map[string]replay.Class{"1": replay.NotJudged, fmt.Sprint(1<<13 - 1): replay.NewlyAsked} {
		_, answer := asked("get", "", "hidden secret")
		answer.Ref = ref
		if x := j.CompareReply(&rs.TakeReplies(&event.Entry{Event: *answer})[0]); x.Class != want {
			t.Errorf("%s: %+v", ref, x)
		}
	}
}
