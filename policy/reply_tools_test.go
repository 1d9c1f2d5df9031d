package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/cover"
	"github.com/clawai/clawai/internal/check/explain"
	"github.com/clawai/clawai/internal/check/format"
	"github.com/clawai/clawai/internal/check/lint"
	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/internal/check/replay"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

const (
	openAll      = "[[rule]]\naction = \"allow\"\ntool = \"*\"\n"
	redactReply  = "[[rule]]\naction = \"redact\"\non = \"reply\"\ntool = \"*\"\nfind = [\"secret\", \"secret:likely\"]\n"
	denyList     = "[[rule]]\naction = \"deny\"\non = \"list\"\ntool = \"delete_*\"\n"
	denyReply    = "[[rule]]\naction = \"deny\"\non = \"reply\"\ntool = \"*\"\n"
	redactAsked  = "[[rule]]\naction = \"redact\"\nsampling = \"**\"\nfind = \"card\"\n"
	askAsked     = "[[rule]]\naction = \"prompt\"\nsampling = \"**\"\n"
	denyFindings = "[[rule]]\naction = \"deny\"\ntool = \"post\"\nfind = \"secret\"\n"
)

// Proofs about calls leave out what comes back: policies are alike where the rules about it are the
// same, and otherwise it is said that this is another question. Of calls all is as without them.
func TestProofsLeaveOutReplies(t *testing.T) {
	calls := openAll + askAsked
	for _, c := range []struct {
		before, after string
		undecided     bool
	}{
		{calls, calls, false},
		{redactReply + denyReply + calls, redactReply + calls + denyReply, false},
		{calls, denyReply + calls, true},
		{redactReply + denyReply + calls, denyReply + redactReply + calls, true},
		{calls, redactAsked + calls, true},
		{denyList + calls, denyList + calls, false},
	} {
		classes := prove.Difference(clientPolicy(t, c.before), clientPolicy(t, c.after), prove.Options{})
		if c.undecided != (len(classes) > 0) || c.undecided && (!classes[0].Undecided || !strings.Contains(classes[0].Reason, "are not the same")) {
			t.Errorf("%+v\nfrom\n%s\nto\n%s", classes, c.before, c.after)
		}
	}
	if reach := prove.Reach(clientPolicy(t, denyReply+denyReply+openAll), prove.Options{}); reach[1].Status != prove.Undecided || reach[1].Reason == "" || reach[2].Status != prove.Reached {
		t.Errorf("%+v", reach)
	}
	// A deny by what is found is no proof that another rule is idle.
	for i, f := range prove.Reach(clientPolicy(t, denyFindings+strings.Replace(openAll, "*", "post", 1)), prove.Options{}) {
		if f.Status == prove.Covered {
			t.Errorf("rule %d: %+v", i, f)
		}
	}
}

func TestLintOfReplies(t *testing.T) {
	src := redactReply + denyReply + denyReply + denyList + openAll
	r := lint.Run(clientPolicy(t, src), []byte(src), lint.Options{})
	var codes []string
	for _, f := range r.Findings {
		if f.Code == lint.RedactedDoubt || f.Code == lint.DuplicateRule || f.Code == lint.UnreachableRule {
			codes = append(codes, fmt.Sprint(f.Code, " ", f.Pos.Line))
		}
	}
	if got := strings.Join(codes, ", "); got != "redacted-doubt 1, duplicate-rule 10" || len(r.Undecided) != 3 {
		t.Errorf("%s, undecided %+v", got, r.Undecided)
	}
}

// Fixtures with a result exercise rules about what comes back, kind by kind, and notice
// changes of them.
func TestCoverageOfReplies(t *testing.T) {
	src := redactReply + denyReply + denyList + openAll
	var fixtures []check.Fixture
	measured := func(text string) string {
		fx, err := check.ParseFixture([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		fx.Path = "f"
		fixtures = append(fixtures, fx)
		c, err := cover.Measure(clientPolicy(t, src), "p.toml", []byte(src), fixtures, cover.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var open []string
		for _, p := range c.Points {
			if !p.Covered {
				open = append(open, fmt.Sprint(p.Rule, " ", p.What, " ", p.Way))
			}
		}
		return strings.Join(open, ", ")
	}
	for _, c := range [][2]string{
		{`{"method":"tools/call","params":{"name":"read"},"expected":"allow"}`, `0 the rule matches, 0 find "secret" matches, 0 find "secret:likely" matches, 1 the rule matches, 2 the rule matches`},
		{`{"method":"tools/call","params":{"name":"read"},"result":{},"finds":["secret"],"expected":"deny"}`, `0 find "secret:likely" matches, 2 the rule matches`},
		{`{"method":"tools/list","list":{"name":"delete_all"},"expected":"deny"}`, `0 find "secret:likely" matches`},
		{`{"method":"tools/call","params":{"name":"read"},"result":{},"finds":["secret:likely"],"expected":"deny"}`, ``},
	} {
		if got := measured(c[0]); got != c[1] {
			t.Errorf("with %s: open are %s, want %s", c[0], got, c[1])
		}
	}
	m, err := cover.Mutate(clientPolicy(t, src), "p.toml", []byte(src), fixtures, cover.Options{})
	if err != nil || m.Undecided != 0 {
		t.Fatalf("%+v %v", m, err)
	}
	for _, o := range m.Outcomes {
		if o.Rule < 3 && o.Kind == "drop-rule" && o.Killed == o.Equivalent {
			t.Errorf("%s", o.Name)
		}
	}
}

// Where a record does not say what was looked for, what a rule about it would have said is
// not decided.
func TestReplayOfFindings(t *testing.T) {
	judge := func(src string) replay.Example {
		j, err := replay.NewJudge("p.toml", []byte(src), policy.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return j.CompareEntry(&event.Entry{Event: event.Event{Kind: event.Decision, Server: "s", Method: "tools/call",
			Subject: "tool", Names: []string{"post"}, Args: []byte(`{"a":1}`), Bytes: 7, Policy: "allow"}})
	}
	if c := judge(denyFindings + openAll); c.Class != replay.NotJudged {
		t.Errorf("%+v", c)
	}
	if c := judge(redactReply + denyReply + openAll); c.Class != replay.Unchanged {
		t.Errorf("%+v", c)
	}
}

func TestFormatAndExplainReplies(t *testing.T) {
	src := "[[rule]]\nfind=['secret']\ntool='*'\non='reply'\naction='redact'\n"
	out, err := format.Format([]byte(src))
	if want := "[[rule]]\naction = \"redact\"\non = \"reply\"\ntool = \"*\"\nfind = [\"secret\"]\n"; err != nil || string(out) != want {
		t.Errorf("%v\n%s", err, out)
	}
	var text strings.Builder
	p := clientPolicy(t, denyReply+denyFindings+openAll)
	if err := explain.DescribeCalls(p, []policy.Call{{Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"post"}}}).WriteText(&text, true); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`judges what comes back (on = "reply")`, "nothing has looked for what it carries"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
}
