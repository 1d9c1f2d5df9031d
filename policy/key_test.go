package policy_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/ask/remember"
	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/cover"
	"github.com/clawai/clawai/internal/check/diff"
	"github.com/clawai/clawai/internal/check/explain"
	"github.com/clawai/clawai/internal/check/format"
	"github.com/clawai/clawai/internal/check/learn"
	"github.com/clawai/clawai/internal/check/lint"
	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/internal/check/replay"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where"
)

// A condition that only this test has is known to all that reads, judges, compares
// and writes rules: what does not range over the table of keys fails here.
func TestAConditionIsKnownEverywhere(t *testing.T) {
	for _, known := range []bool{true, false} {
		t.Run(fmt.Sprintf("known to workbench and record %t", known), func(t *testing.T) {
			defer policy.AddClient(known, known)()
			for name, test := range map[string]func(*testing.T, bool){
				"parse": clientParse, "match": clientMatch, "trace": clientTrace, "narrow": clientNarrow, "print": clientPrint,
				"prove": clientProve, "format": clientFormat, "lint": clientLint, "learn": clientLearn, "remember": clientRemember,
				"record": clientRecord, "explain": clientExplain, "cover": clientCover, "diff": clientDiff, "replay": clientReplay, "test": clientFixture,
			} {
				t.Run(name, func(t *testing.T) { test(t, known) })
			}
		})
	}
	if _, found := policy.CallKeyOf("client"); found {
		t.Error("the key is still there")
	}
}

// forClient is a rule about a client, or about all.
func forClient(action, tool, client string) string {
	text := fmt.Sprintf("[[rule]]\naction = %q\ntool = %q\n", action, tool)
	if client != "" {
		text += fmt.Sprintf("client = %q\n", client)
	}
	return text + "\n"
}

const askCursor = "[[rule]]\naction = \"prompt\"\ntool = \"write\"\nclient = \"cursor*\"\n"

func clientPolicy(t *testing.T, rules ...string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("p.toml", []byte(strings.Join(rules, "")), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func writeFrom(server string) policy.Call {
	return policy.Call{Server: server, Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"write"}}
}

func clientParse(t *testing.T, glob bool) {
	s := clientPolicy(t, askCursor).Sources()[0]
	if len(s.Calls) != 1 || s.Calls[0].Key != "client" || s.Calls[0].Text != `"cursor*"` || (s.Calls[0].Globs != nil) != glob {
		t.Errorf("%+v", s.Calls)
	}
	if _, err := policy.Parse("p", []byte(askCursor+"not.client = 'cursor-*'\n"), policy.Options{}); (err == nil) != glob {
		t.Errorf("an exception by client: %v", err)
	}
	for line, want := range map[string]string{
		"client = 1": "client must be a glob or a list of globs, not", "client = ''": "client: empty pattern", "client.x = 'a'": "client must be a string, not a table",
		"client = 'a'\nclient = 'b'": "client is given twice", "clint = 'a'": `did you mean "client"?`,
	} {
		_, err := policy.Parse("p", []byte("[[rule]]\naction = 'deny'\ntool = 'x'\n"+line+"\n"), policy.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func clientMatch(t *testing.T, _ bool) {
	for _, c := range []struct {
		action, below string
		want          [3]policy.Action // of the client, of another, of one that is not known
	}{
		{"allow", "", [3]policy.Action{policy.Allow, policy.Deny, policy.Deny}},
		{"prompt", "allow", [3]policy.Action{policy.Prompt, policy.Allow, policy.Prompt}},
	} {
		rules := []string{forClient(c.action, "write", "cursor*")}
		if c.below != "" {
			rules = append(rules, forClient(c.below, "write", ""))
		}
		p := clientPolicy(t, rules...)
		for i, server := range []string{"files@cursor", "files@zed", "files"} {
			call := writeFrom(server)
			if d := p.Decide(&call); d.Action != c.want[i] {
				t.Errorf("%s, %s: %v", c.action, server, d)
			}
		}
	}
}

func clientTrace(t *testing.T, _ bool) {
	p := clientPolicy(t, forClient("deny", "write", "cursor*"))
	for server, match := range map[string]where.Match{"files@cursor": where.Yes, "files@zed": where.No, "files": where.Maybe} {
		call := writeFrom(server)
		trace := p.Trace(&call)
		s := trace.Steps[0]
		if s.Match != match || match != where.Yes && (s.At.Kind != policy.CallCondition || s.At.Key != "client" ||
			strings.Trim(s.At.Want[0], `"`) != "cursor*" || s.At.Got != strings.TrimPrefix(strings.TrimPrefix(server, "files"), "@")) {
			t.Errorf("%s: %+v", server, s)
		}
	}
}

func clientNarrow(t *testing.T, _ bool) {
	p, call := clientPolicy(t, askCursor), writeFrom("files@cursor")
	for _, action := range []policy.Action{policy.Allow, policy.Deny} {
		for _, scope := range []policy.Scope{policy.Exact, policy.Tool} {
			n, err := p.NarrowRule(p.Rules()[0], &call, scope, action)
			if err != nil || !strings.Contains(n.Text, "\nclient = \"cursor*\"\n") {
				t.Errorf("%v %v: %v %+v", action, scope, err, n)
			}
		}
	}
}

func clientPrint(t *testing.T, _ bool) {
	cursor, zed, all := clientPolicy(t, forClient("allow", "write", "cursor")), clientPolicy(t, forClient("allow", "write", "zed")), clientPolicy(t, forClient("allow", "write", ""))
	if !cursor.ChangeTo(all).Loosens || !cursor.ChangeTo(zed).Loosens || cursor.ChangeTo(cursor).Loosens {
		t.Error("rules that differ by a condition are taken for the same")
	}
}

func clientProve(t *testing.T, _ bool) {
	all, some, other := forClient("deny", "write", ""), forClient("allow", "write", "a*"), forClient("deny", "write", "ab")
	for _, c := range []struct {
		above, below string
		covered      bool
	}{{some, all, false}, {some, other, false}, {other, some, false}, {all, some, true}, {some, forClient("deny", "write", "a*"), true}} {
		a := prove.New(clientPolicy(t, c.above, c.below), prove.Options{})
		if covered := a.Reach()[1].Status == prove.Covered; covered != c.covered {
			t.Errorf("covered %v: %s%s", covered, c.above, c.below)
		}
		if a.IsCovered(1, 0) != c.covered {
			t.Errorf("within %v: %s%s", !c.covered, c.above, c.below)
		}
	}
	for _, rules := range [][2]string{{some, forClient("allow", "write", "")}, {some, forClient("allow", "write", "b*")}} {
		if len(prove.Difference(clientPolicy(t, rules[0]), clientPolicy(t, rules[1]), prove.Options{})) == 0 {
			t.Errorf("proved to be the same: %q", rules)
		}
	}
	if d := prove.Difference(clientPolicy(t, some), clientPolicy(t, "# the same\n"+some), prove.Options{}); len(d) != 0 {
		t.Errorf("%+v", d)
	}
}

func clientFormat(t *testing.T, _ bool) {
	src := "[[rule]]\ndescription = 'd'\nask = 'out-of-band'\nclient = 'c'\nserver = 's'\ntool = 't'\naction = 'prompt'\n"
	want := "[[rule]]\naction = \"prompt\"\ntool = \"t\"\nserver = \"s\"\nclient = \"c\"\nask = \"out-of-band\"\ndescription = \"d\"\n"
	if out, err := format.Format([]byte(src)); err != nil || string(out) != want {
		t.Errorf("%v\n%s", err, out)
	}
}

func clientLint(t *testing.T, glob bool) {
	run := func(rules ...string) (codes []string) {
		src := strings.Join(rules, "")
		for _, f := range lint.Run(clientPolicy(t, rules...), []byte(src), lint.Options{File: "p.toml"}).Findings {
			codes = append(codes, f.Code)
		}
		return codes
	}
	wrong := []string{lint.DuplicateRule, lint.UnreachableRule, lint.DenyNeverWins}
	for _, below := range []string{"zed", ""} {
		if codes := run(forClient("allow", "write", "cursor"), forClient("deny", "write", below)); slices.ContainsFunc(codes, func(c string) bool { return slices.Contains(wrong, c) }) {
			t.Errorf("%q: %v", below, codes)
		}
	}
	// A deny that is about some client is no ground on which the allow is an exception.
	if codes := run(forClient("allow", "write", ""), forClient("deny", "*", "cursor")); slices.Contains(codes, lint.AllowAboveDeny) != glob {
		t.Errorf("%v", codes)
	}
	if codes := run(forClient("allow", "write", "[ab]")); slices.Contains(codes, lint.LiteralBracket) != glob {
		t.Errorf("%v", codes)
	}
}

func clientLearn(t *testing.T, recorded bool) {
	l, err := learn.New(learn.Options{Now: time.Unix(1e9, 0), MinCount: 1, MinShare: 0.5, File: "p.toml", Policy: []byte(askCursor)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		e := recordedWrite("prompt", fmt.Sprintf("r%d", i))
		e.Stage, e.Code, e.RuleLine = "ask", "allowed_by_person", 1
		answer := event.Entry{Session: "s", Event: event.Event{Kind: event.Answered, Channel: "terminal"}}
		if err := errors.Join(l.Add(&answer), l.Add(&e)); err != nil {
			t.Fatal(err)
		}
	}
	rules := l.Propose()
	if !recorded {
		if len(rules) != 0 || l.Skipped[replay.Unrecorded.String()] != 5 {
			t.Errorf("learned %d rules; skipped %v", len(rules), l.Skipped)
		}
		return
	}
	text, err := l.Compose(rules)
	if err != nil || len(rules) != 1 || strings.Count(string(text), "client = ") != 2 || strings.Contains(string(text), "[[rule]]\nclient") {
		t.Errorf("%v: %d rules, skipped %v\n%s", err, len(rules), l.Skipped, text)
	}
}

func recordedWrite(was, record string) event.Entry {
	return event.Entry{Session: "s", Event: event.Event{
		Kind: event.Decision, Record: record, Time: time.Unix(1e9, 0), Server: "files@cursor", Method: "tools/call", Subject: "tool", Names: []string{"write"}, Policy: was,
	}}
}

// deniedBefore is a record of one call that was denied.
type deniedBefore policy.Call

func (d deniedBefore) Calls() iter.Seq2[remember.DeniedCall, error] {
	return func(yield func(remember.DeniedCall, error) bool) {
		yield(remember.DeniedCall{Call: policy.Call(d)}, nil)
	}
}
func (deniedBefore) Redacted(string) bool { return false }

func clientRemember(t *testing.T, recorded bool) {
	call := writeFrom("@cursor")
	path := filepath.Join(t.TempDir(), "p.toml")
	if err := os.WriteFile(path, []byte(askCursor), 0o600); err != nil {
		t.Fatal(err)
	}
	p := clientPolicy(t, askCursor)
	k := &remember.Writer{Policy: path, Denied: deniedBefore(writeFrom(""))}
	q := gate.Question{Calls: []policy.Call{call}, Rule: *p.Decide(&call).Rule, Revision: p.Revision()}
	q.Rule.Pos.File = path
	_, err := k.Write(context.Background(), q, "exact", gate.AllowAlways)
	text, _ := os.ReadFile(path)
	if recorded && (err != nil || strings.Count(string(text), "client = \"cursor*\"") != 2) {
		t.Errorf("%v\n%s", err, text)
	}
	// What the record does not keep is taken to be as the rule wants it.
	if !recorded && (err == nil || !strings.Contains(err.Error(), "denied")) {
		t.Errorf("%v\n%s", err, text)
	}
}

func clientExplain(t *testing.T, _ bool) {
	p := clientPolicy(t, askCursor)
	for server, want := range map[string]string{"files@zed": `client wants "cursor*"; the client is `, "files": `client wants "cursor*"; the client is not known`} {
		e := explain.DescribeCalls(p, []policy.Call{writeFrom(server)})
		var b strings.Builder
		if err := e.WriteText(&b, true); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%v\n%s", err, &b)
		}
		if d := e.Document(); d.Calls[0].Steps[0].Condition != "client" {
			t.Errorf("%+v", d.Calls[0].Steps)
		}
	}
}

func clientCover(t *testing.T, glob bool) {
	src := askCursor
	p := clientPolicy(t, src)
	fx, err := check.ParseFixture([]byte(`{"server":"files@cursor","method":"tools/call","params":{"name":"write"},"expected":"prompt"}`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := cover.Measure(p, "p.toml", []byte(src), []check.Fixture{fx}, cover.Options{})
	if err != nil || !slices.ContainsFunc(c.Points, func(pt cover.Point) bool {
		return strings.HasPrefix(pt.What, "client") && pt.Way == "fails" && !pt.Covered
	}) {
		t.Errorf("%v %+v", err, c.Points)
	}
	m, err := cover.Mutate(p, "p.toml", []byte(src), []check.Fixture{fx}, cover.Options{})
	has := func(kind string) bool {
		return slices.ContainsFunc(m.Outcomes, func(o cover.Outcome) bool {
			return o.Kind == kind && strings.Contains(o.Name, "client") && !o.Equivalent
		})
	}
	if err != nil || !has("drop-condition") || has("widen") != glob {
		t.Errorf("%v %+v", err, m.Outcomes)
	}
}

func clientDiff(t *testing.T, _ bool) {
	for _, after := range []string{"", "zed"} {
		r := diff.ComparePolicies(clientPolicy(t, forClient("allow", "write", "cursor")), clientPolicy(t, forClient("allow", "write", after)))
		if !r.HasChanges() {
			t.Errorf("no difference from %q", after)
		}
	}
}

func clientReplay(t *testing.T, recorded bool) {
	j, err := replay.NewJudge("p.toml", []byte(askCursor), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := recordedWrite("deny", "r")
	e.Reason = "no rule allows it"
	c, why := replay.RebuildCall(&e)
	if why != "" {
		t.Fatal(why)
	}
	d, why := j.JudgeCall(&c)
	if recorded && (why != "" || d.Action != policy.Prompt) || !recorded && why != replay.Unrecorded {
		t.Errorf("%v %q", d, why)
	}
}

func clientFixture(t *testing.T, _ bool) {
	fx, err := check.ParseFixture([]byte(`{"server":"files","method":"tools/call","params":{"name":"write"}}`))
	if err != nil {
		t.Fatal(err)
	}
	r := check.ReportFixture(clientPolicy(t, askCursor), fx, "")
	if !slices.Contains(r.Undecided, "client") || !strings.Contains(check.ExplainResult(r), "(client is undecided; no fixture says it)") {
		t.Errorf("%+v", r)
	}
}

// What is known to meet a condition is for those who look for a witness.
func TestMeet(t *testing.T) {
	for when, meets := range map[string]bool{
		`{ from = "22:00", to = "06:00", days = ["sat"], zone = "UTC" }`: true,
		`{ after = "2030-01-01T00:00:00Z" }`:                             true,
		`{ from = "09:10", to = "09:20", zone = "UTC" }`:                 false, // between two hours
	} {
		s := clientPolicy(t, "[[rule]]\naction = 'allow'\ntool = 'write'\nserver = 'files'\nwhen = "+when+"\n").Sources()[0]
		call := writeFrom("")
		for i := range s.Calls {
			s.Calls[i].MeetCondition(&call)
		}
		if call.Server != "" || s.When.ContainsTime(call.At) != meets || call.At.IsZero() == meets {
			t.Errorf("%s: %v", when, call.At)
		}
	}
}

// A call that arrives as a frame is decided by the condition, and the record says by which rule.
// What is read from the record is judged alike where records keep what the condition looks at.
func clientRecord(t *testing.T, recorded bool) {
	src := askCursor + forClient("deny", "write", "zed") + forClient("allow", "write", "")
	dir := t.TempDir()
	log, err := audit.Open(dir, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	door, err := gate.New(gate.Options{
		Policy: clientPolicy(t, src), Recorder: log, Approver: nobody{},
		Concluder: gate.None{}, Inspector: gate.None{}, Labels: gate.None{}, Releases: gate.None{},
	})
	if err != nil {
		t.Fatal(err)
	}
	type decided struct {
		policy string
		line   int
	}
	want := map[string]decided{"files@cursor-1": {"prompt", 1}, "files@zed": {"deny", 5}, "files@other": {"allow", 10}, "files": {"deny", 5}}
	for server := range want {
		f, err := frame.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write","arguments":{}}}`), frame.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		m, refusal := mcp.Read(&f, mcp.ClientToServer, server)
		if refusal != nil {
			t.Fatal(refusal)
		}
		crossed := make(outlet)
		go door.Do(t.Context(), &gate.Exchange{Raw: f.Raw, Calls: m.Calls, Out: crossed, Event: event.Event{
			Kind: event.Decision, Server: server, Direction: "client", Method: "tools/call", Subject: "tool", Names: m.Calls[0].Names, Args: m.Calls[0].Args,
		}})
		if forwarded := <-crossed; forwarded != (want[server].policy == "allow") {
			t.Errorf("%s: forwarded %t", server, forwarded)
		}
	}
	door.Close()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	j, err := replay.NewJudge("p.toml", []byte(src), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range audit.Read(dir, audit.Filter{Kinds: []event.Kind{event.Decision}}) {
		if err != nil {
			t.Fatal(err)
		}
		if got := (decided{e.Policy, e.RuleLine}); got != want[e.Server] {
			t.Errorf("want %+v: %s", want[e.Server], e.Raw)
		}
		c, why := replay.RebuildCall(&e)
		if why != "" {
			t.Fatal(why)
		}
		if d, why := j.JudgeCall(&c); recorded && (why != "" || d.Action.String() != e.Policy) {
			t.Errorf("judged again: %v %q; %s", d, why, e.Raw)
		}
		delete(want, e.Server)
	}
	if len(want) > 0 {
		t.Errorf("not recorded: %v", want)
	}
}

// nobody is a person who is not there.
type nobody struct{}

func (nobody) Ask(_ context.Context, q gate.Question) (gate.Answer, error) {
	return gate.Answer{Digest: q.Digest}, errors.New("nobody is there")
}

// outlet receives whether a call was forwarded.
type outlet chan bool

func (o outlet) Forward(*gate.Exchange) error        { o <- true; return nil }
func (o outlet) Refuse(*gate.Exchange, gate.Verdict) { o <- false }
func (outlet) Waiting(*gate.Exchange, time.Duration) {}
