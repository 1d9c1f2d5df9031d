package diff_test

import (
	"encoding/json"
	"errors"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/diff"
	"github.com/clawai/clawai/internal/check/replay"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

func judge(t *testing.T, file, src string) *replay.Judge {
	t.Helper()
	j, err := replay.NewJudge(file, []byte(src), policy.Options{Home: "/home/user"})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func compare(t *testing.T, before, after string) *diff.Report {
	t.Helper()
	return diff.ComparePolicies(judge(t, "old.toml", before).Policy(), judge(t, "new.toml", after).Policy())
}

func TestKindOf(t *testing.T) {
	allow, deny, ask := diff.Answer{Action: policy.Allow}, diff.Answer{}, diff.Answer{Action: policy.Prompt}
	outside := diff.Answer{Action: policy.Prompt, OutOfBand: true}
	limited := diff.Answer{Action: policy.Allow, Rule: &policy.Rule{Rate: policy.Rate{Count: 3, Every: time.Hour, Key: "a"}}}
	same := diff.Answer{Action: policy.Allow, Rule: &policy.Rule{Index: 7, Rate: policy.Rate{Count: 3, Every: time.Hour, Key: "b"}}}
	for _, c := range []struct {
		old, now diff.Answer
		want     diff.ChangeKind
	}{
		{allow, allow, ""}, {deny, deny, ""}, {ask, ask, ""}, {limited, same, ""},
		{deny, allow, diff.NewlyAllowed}, {ask, allow, diff.NoLongerAsked}, {outside, allow, diff.NoLongerAsked},
		{allow, limited, diff.LimitChanged}, {limited, allow, diff.LimitChanged}, {deny, limited, diff.NewlyAllowed},
		{deny, ask, diff.NewlyAsked}, {allow, ask, diff.NewlyAsked},
		{outside, ask, diff.AskedInBand}, {ask, outside, diff.AskedOutside},
		{allow, deny, diff.NewlyDenied}, {ask, deny, diff.NewlyDenied},
	} {
		if got := diff.KindOf(c.old, c.now); got != c.want {
			t.Errorf("%+v, %+v: %q, want %q", c.old, c.now, got, c.want)
		}
	}
}

const before = `
[[rule]]
action = "deny"
tool = "open"
[[rule]]
action = "allow"
tool = "look"
[[rule]]
action = "prompt"
tool = "ask"
[[rule]]
action = "allow"
tool = "often"
[[rule]]
action = "prompt"
tool = "move"
ask = "out-of-band"
[[rule]]
action = "deny"
tool = "maybe"
`

const after = `
[[rule]]
action = "allow"
tool = "open"
[[rule]]
action = "prompt"
tool = "look"
[[rule]]
action = "allow"
tool = "ask"
[[rule]]
action = "allow"
tool = "often"
limit = { rate = "3/h" }
[[rule]]
action = "prompt"
tool = "move"
[[rule]]
action = "prompt"
tool = "maybe"
`

// What opens most stands first, and every example is answered as it is said.
func TestOrder(t *testing.T) {
	r := compare(t, before, after)
	var got []string
	for _, c := range r.Changes {
		got = append(got, string(c.Kind)+" "+c.Example.Names[0])
	}
	want := "newly_allowed open, no_longer_asked ask, limit_changed often, asked_in_band move, newly_asked maybe, newly_asked look"
	if s := strings.Join(got, ", "); s != want || len(r.Doubts) > 0 || !r.HasChanges() {
		t.Errorf("%s\nwant %s\n%+v", s, want, r.Doubts)
	}
	old, now := judge(t, "o", before).Policy(), judge(t, "n", after).Policy()
	for _, c := range r.Changes {
		if a, b := old.Decide(c.Example), now.Decide(c.Example); a.Action != c.Old.Action || b.Action != c.New.Action {
			t.Errorf("%v: %v, %v; told %v, %v", c.Example.Names, a.Action, b.Action, c.Old.Action, c.New.Action)
		}
		fx, err := check.ParseFixture(c.Fixture)
		if err != nil {
			t.Fatalf("%s: %v", c.Fixture, err)
		}
		if result := check.JudgeFixture(now, fx, ""); result.IsMismatch() || result.Expected == nil {
			t.Errorf("%s: the new policy says %v", c.Fixture, result.Action)
		}
	}
	if r = compare(t, before, before); r.HasChanges() || r.Summary() != "no call is answered differently" {
		t.Errorf("a policy and itself: %s", r.Summary())
	}
}

func TestFixtures(t *testing.T) {
	fixture := func(path, src string) check.Fixture {
		fx, err := check.ParseFixture([]byte(src))
		if err != nil {
			t.Fatal(err)
		}
		fx.Path = path
		return fx
	}
	r := &diff.Report{}
	r.AddFixtures(judge(t, "o", before).Policy(), judge(t, "n", after).Policy(), []check.Fixture{
		fixture("look", `{"method":"tools/call","params":{"name":"look"},"expected":"allow"}`),
		fixture("open", `{"method":"tools/call","params":{"name":"open"},"expected":"allow"}`),
		fixture("ping", `{"method":"ping"}`),
		fixture("broken", `{"method":"tools/call","params":{"name":"a","name":"b"}}`),
	}, "s")
	if f := r.Fixtures; f.Judged != 4 || len(f.Changes) != 2 || f.Changes[0].Path != "open" || f.Changes[1].Kind != diff.NewlyAsked {
		t.Errorf("%+v", f)
	}
	if !r.HasChanges() {
		t.Error("a fixture changes and the report does not")
	}
}

func entry(id, tool, args, policy string) event.Entry {
	return event.Entry{Event: event.Event{
		Record: id, Kind: event.Decision, Time: time.Now(), Server: "s", Method: "tools/call", Subject: "tool",
		Names: []string{tool}, Args: []byte(args), Policy: policy, Decision: policy,
	}}
}

func TestRecord(t *testing.T) {
	yields := func(last error) iter.Seq2[event.Entry, error] {
		return func(yield func(event.Entry, error) bool) {
			entries := []event.Entry{
				entry("1", "look", `{}`, "allow"), entry("2", "look", `{}`, "allow"), entry("3", "open", `{"a":1}`, "deny"),
				entry("4", "none", `{}`, "deny"), entry("5", "none", `{}`, "no such word"), {Event: event.Event{Kind: event.Start}},
				entry("6", "open", `{"a":2}`, "deny"),
			}
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
			}
			yield(event.Entry{}, last)
		}
	}
	r := &diff.Report{}
	if err := r.AddRecord(judge(t, "o", before), judge(t, "n", after), yields(&event.Damage{File: "f"}), 1); err != nil {
		t.Fatal(err)
	}
	rec := r.Record
	if rec.Decisions != 6 || rec.Unchanged != 1 || rec.Counts[diff.NewlyAsked] != 2 || rec.Counts[diff.NewlyAllowed] != 2 ||
		rec.NotJudged[replay.Unknown] != 1 || rec.Damaged != 1 {
		t.Errorf("%+v", rec)
	}
	if x := rec.Examples; len(x) != 2 || x[0].ID != "3" || x[0].Times != 1 || x[1].ID != "1" || x[1].Times != 2 {
		t.Errorf("%+v", rec.Examples)
	}
	if !r.HasChanges() {
		t.Error("recorded calls change and the report does not")
	}
	broken := errors.New("disk")
	if err := r.AddRecord(judge(t, "o", before), judge(t, "n", after), yields(broken), 1); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// hostile is what an attacker might put into a tool's name or a description to
// get out of its place.
var hostile = []string{
	"`", "```", "|", "\\|", "<img src=x>", "</code>", "</details>", "@owner", "#1", "](javascript:x)", "[a](b)", "www.evil.example",
	"http://evil.example", "**", "\n## h\n", "\r", "\x1b[31m", "\u202e", "\u2028", "&#64;", "&lt;", "~~~", "é", "😀",
}

// Whatever stands in a call or a policy, a comment has the same structure.
func TestMarkdownIsTight(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func() string {
		var b strings.Builder
		for range rng.IntN(6) {
			b.WriteString(hostile[rng.IntN(len(hostile))])
		}
		return b.String()
	}
	shape := func(name, text, args string) (lines []string) {
		rule := &policy.Rule{Action: policy.Allow, Description: text, Pos: policy.Position{File: text, Line: 3}}
		call := &policy.Call{Server: text, Method: "tools/call", Subject: policy.ToolSubject, Names: []string{name}, Args: []byte(args)}
		composed, err := check.Compose(call, policy.Allow)
		if err != nil {
			t.Fatal(err)
		}
		change := diff.Change{Kind: diff.NewlyAllowed, New: diff.Answer{Action: policy.Allow, Rule: rule}, Example: call, Fixture: composed.Text}
		r := &diff.Report{
			Changes: []diff.Change{change}, Doubts: []diff.Doubt{{Old: change.New, Reason: text}},
			Fixtures: &diff.Fixtures{Judged: 1, Changes: []diff.FixtureChange{{Path: text, Kind: diff.NewlyDenied, Old: change.New}}},
			Record: &diff.Record{Decisions: 1, Counts: map[diff.ChangeKind]int{diff.NewlyAllowed: 1}, NotJudged: map[replay.Why]int{replay.Cut: 1},
				Examples: []diff.Recorded{{Kind: diff.NewlyAllowed, Call: *call, New: change.New, Times: 1}}},
		}
		var b strings.Builder
		if err := r.WriteMarkdown(&b); err != nil {
			t.Fatal(err)
		}
		var quiet strings.Builder
		for line := range strings.Lines(b.String()) {
			kept := strings.Map(func(r rune) rune {
				if strings.ContainsRune("|`<>@[]~*\n", r) {
					return r
				}
				return -1
			}, line)
			lines = append(lines, kept)
		}
		if err := r.WriteText(&quiet); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(quiet.String()+b.String(), "\x1b\r\u202e\u2028") {
			t.Errorf("%q reaches the terminal", text)
		}
		return lines
	}
	want := shape("x", "x", `{"x":"x"}`)
	for range 500 {
		name, text := draw(), draw()
		if name == "" || text == "" {
			continue
		}
		value, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := shape(name, text, `{"x":`+string(value)+`}`); !slices.Equal(outside(got), outside(want)) {
			t.Fatalf("name %q, text %q:\n%q\nwant\n%q", name, text, got, want)
		}
	}
}

// outside are the lines that do not lie in a fenced block, where [ and the like
// are JSON; of those, that they stay inside.
func outside(lines []string) (out []string) {
	inside := false
	for _, l := range lines {
		if strings.HasPrefix(l, "```") {
			inside = !inside
			out = append(out, l)
		} else if !inside {
			out = append(out, l)
		} else if strings.ContainsAny(l, "`<>@") {
			out = append(out, "out of the fence: "+l)
		}
	}
	return out
}

// A comment that would be too long says so, and how much is missing.
func TestMarkdownIsBounded(t *testing.T) {
	call := &policy.Call{Method: "tools/call", Subject: policy.ToolSubject, Names: []string{strings.Repeat("x", 5000)}}
	r := &diff.Report{}
	for range 400 {
		r.Changes = append(r.Changes, diff.Change{Kind: diff.NewlyAllowed, Example: call, Fixture: []byte(strings.Repeat("1", 5000))})
	}
	var b strings.Builder
	if err := r.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 64_000 || !strings.Contains(b.String(), "more not shown") {
		t.Errorf("%d bytes", b.Len())
	}
}

func TestDocument(t *testing.T) {
	r := compare(t, before, after)
	r.Doubts = []diff.Doubt{{Reason: "why", Spelling: true}, {Reason: "because"}}
	r.AddFixtures(judge(t, "o", before).Policy(), judge(t, "n", after).Policy(), nil, "")
	src, err := json.Marshal(r.Document())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"old_policy_revision":`, `"changed":true`, `"newly_allowed":1`, `"kind":"newly_allowed"`, `"rule":{"index":0,"file":"old.toml","line":2}`,
		`"example":"tools/call open`, `"fixture":{"server":`, `"undecided":[{"old":{"action":"deny","rule":null}`, `"fixtures":{"judged":0,"changes":[]}`,
	} {
		if !strings.Contains(string(src), want) {
			t.Errorf("no %s in %s", want, src)
		}
	}
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Newly allowed\n", "Not decided: because\n", "Not decided for 1 class of calls: ", "; 2 not decided\n", "(3 each 1h0m0s)"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if r := (&diff.Report{Doubts: []diff.Doubt{{}}}); !r.HasChanges() || r.Summary() != "no call was found that is answered differently; 1 not decided" {
		t.Errorf("doubt is no agreement: %s", r.Summary())
	}
}
