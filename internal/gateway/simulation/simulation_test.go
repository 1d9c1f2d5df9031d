package simulation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/check/replay"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/simulation"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/policy"
)

// The places of rules on a laptop.
const (
	ownFile    = "/home/ana/.config/clawai/policy.toml"
	bundleFile = "/home/ana/.local/state/clawai/enrolment/rules/policy.toml"
)

// newCentre opens a centre that knows a key of bundles.
func newCentre(t *testing.T) (c *centre.Centre, secret string) {
	t.Helper()
	dir := t.TempDir()
	secret, public, err := bundle.NewKey("team.example")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, centre.SettingsFile), fmt.Appendf(nil, "bundle_keys = [%q]\n", public), 0o600)
	}
	if err == nil {
		c, err = centre.Open(t.Context(), dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, secret
}

// enrol enrols a laptop of a person.
func enrol(t *testing.T, c *centre.Centre, person string) (laptop string) {
	t.Helper()
	code, err := c.BeginEnrolment(t.Context(), enrolment.AskEnrolment{Name: person + "'s laptop", OS: "linux"}, "here")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.DecideWish(t.Context(), code.UserCode, true, principal.Principal{Issuer: principal.Local, Subject: person, Name: person}); err != nil {
		t.Fatal(err)
	}
	grant, refusal, err := c.PollToken(t.Context(), code.DeviceCode)
	if err != nil || refusal != nil {
		t.Fatal(refusal, err)
	}
	return grant.Laptop
}

// ship records events as a session does, and ships the segments in small parts.
func ship(t *testing.T, c *centre.Centre, laptop string, o audit.Options, events ...*event.Event) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "audit")
	log, err := audit.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if err := log.Record(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	l, _, err := c.Store.FindLaptop(t.Context(), laptop)
	if err != nil {
		t.Fatal(err)
	}
	paths, _ := filepath.Glob(filepath.Join(dir, "*-*.ndjson"))
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		session, _ := audit.SplitSegmentName(name)
		for at := 0; at < len(text); {
			end := min(at+100_000, len(text))
			if _, err := c.TakePart(t.Context(), l, centre.Part{Laptop: laptop, Session: session, Segment: name, At: int64(at), Text: text[at:end], Complete: end == len(text)}); err != nil {
				t.Fatal(err)
			}
			at = end
		}
	}
}

// toolCall is the record of a call that a rule of a file decided.
func toolCall(was, file, tool, args string) *event.Event {
	e := &event.Event{Kind: event.Decision, Time: time.Now(), Server: "files", Direction: "client", Method: "tools/call", Subject: "tool", Names: []string{tool}, Args: []byte(args), Policy: was, Decision: was, Stage: "policy", Code: "rule"}
	if was == "prompt" {
		e.Decision = "deny"
	}
	if file != "" {
		e.RuleFile, e.RuleLine = file, 1
	}
	return e
}

func publish(t *testing.T, c *centre.Centre, secret, policy string) {
	t.Helper()
	text, err := bundle.Write(bundle.Bundle{Counter: 1, Created: time.Now().UTC().Truncate(time.Second), Files: []bundle.File{{Name: bundle.PolicyName, Text: []byte(policy)}}})
	if err == nil {
		text, err = bundle.Sign(text, secret)
	}
	if err == nil {
		_, err = c.Publish(t.Context(), text, "ana")
	}
	if err != nil {
		t.Fatal(err)
	}
}

func simulate(t *testing.T, c *centre.Centre, text string) *simulation.Report {
	t.Helper()
	candidate, err := simulation.NewCandidate("new.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r, err := simulation.Run(t.Context(), c.Store, candidate, simulation.Options{Since: time.Now().AddDate(0, 0, -30), Now: time.Now(), Page: "/records/"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const candidate = `
[[rule]]
action = "deny"
tool = "delete"
[[rule]]
action = "prompt"
tool = "write"
args.path = "/etc/**"
[[rule]]
action = "deny"
tool = "read"
args.path = "~/.ssh/**"
[[rule]]
action = "deny"
tool = "send"
args.text = "*hello*"
[[rule]]
action = "deny"
tool = "list"
where.path.under = ["/srv"]
`

// Each call becomes what it would be on a laptop with the candidate, and what only the laptop's own rules
// can say is never called unchanged.
func TestCallsBecome(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		e    *event.Event
		want replay.Class
		why  replay.Why
		to   string
	}{
		{"a call that nothing names", toolCall("allow", ownFile, "other", `{}`), replay.Unchanged, "", ""},
		{"an allow that is denied now", toolCall("allow", ownFile, "delete", `{}`), replay.NewlyDenied, "", "deny"},
		{"a question that is denied now", toolCall("prompt", ownFile, "delete", `{}`), replay.NewlyDenied, "", "deny"},
		{"an allow that is asked now", toolCall("allow", ownFile, "write", `{"path":"/etc/passwd"}`), replay.NewlyAsked, "", "prompt"},
		{"the same tool elsewhere", toolCall("allow", ownFile, "write", `{"path":"/srv/x"}`), replay.Unchanged, "", ""},
		{"a deny of the laptop stays", toolCall("deny", ownFile, "other", `{}`), replay.Unchanged, "", ""},
		{"no rule allowed it", toolCall("deny", "", "other", `{}`), replay.Unchanged, "", ""},
		{"a question of the laptop stays", toolCall("prompt", ownFile, "other", `{}`), replay.Unchanged, "", ""},
		{"a deny of the bundle goes", toolCall("deny", bundleFile, "other", `{}`), simulation.Released, "", "allow"},
		{"a deny of the bundle becomes a question", toolCall("deny", bundleFile, "write", `{"path":"/etc/x"}`), simulation.Released, "", "prompt"},
		{"a deny of the bundle stays", toolCall("deny", bundleFile, "delete", `{}`), replay.Unchanged, "", ""},
		{"a home that the rule's place tells", toolCall("allow", ownFile, "read", `{"path":"/home/ana/.ssh/id"}`), replay.NewlyDenied, "", "deny"},
		{"another home", toolCall("allow", ownFile, "read", `{"path":"/home/ben/.ssh/id"}`), replay.Unchanged, "", ""},
		{"a home that nothing tells", toolCall("allow", "/x/p.toml", "read", `{"path":"/home/ana/.ssh/id"}`), replay.NotJudged, simulation.Folder, ""},
		{"a disk that is not here", toolCall("allow", ownFile, "list", `{"path":"/srv/x"}`), replay.NotJudged, simulation.Folder, ""},
		{"a secret that was redacted", toolCall("allow", ownFile, "send", `{"text":"ghp_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789 and hello"}`), replay.NotJudged, replay.Redacted, ""},
		{"a long text that was cut", toolCall("allow", ownFile, "send", `{"text":"`+strings.Repeat("x", 100_000)+` hello"}`), replay.NotJudged, replay.Cut, ""},
		{"a session that a later version wrote", &event.Event{Kind: event.Decision, Time: time.Now(), Method: "tools/call", Policy: "perhaps", Decision: "deny"}, replay.NotJudged, replay.Unknown, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			is, _ := newCentre(t)
			laptop := enrol(t, is, "ana")
			ship(t, is, laptop, audit.Options{}, c.e)
			r := simulate(t, is, candidate)
			if r.Decisions != 1 || r.Laptops != 1 || r.Damaged != 0 {
				t.Fatalf("%+v", r)
			}
			if c.want == replay.Unchanged {
				if r.Unchanged != 1 || len(r.Groups) != 0 {
					t.Errorf("%+v %+v", r.Counts, r.Groups)
				}
				return
			}
			if len(r.Groups) != 1 {
				t.Fatalf("%+v %+v", r.Counts, r.Groups)
			}
			g := r.Groups[0]
			if g.Class != c.want || g.Why != c.why || g.To != c.to || g.N != 1 || g.From != c.e.Policy && c.e.Policy != "perhaps" {
				t.Errorf("%+v", g)
			}
			if rec, err := is.Store.FindRecord(t.Context(), g.Example.ID); err != nil || fmt.Sprintf("%s-%d", rec.Session, rec.Seq) != g.Example.Record || g.Example.Page != fmt.Sprint("/records/", g.Example.ID) {
				t.Errorf("the example %+v leads to %+v, %v", g.Example, rec, err)
			}
		})
	}
}

// Whatever a laptop's own rules, its bundle and the candidate are: what the simulation says of a call is
// what the same laptop would answer with the candidate.
func TestSimulationIsWhatALaptopWouldDo(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 44)) //nolint:gosec // a repeatable test
	mix := func(most int) string {
		var b strings.Builder
		for range r.IntN(most + 1) {
			fmt.Fprintf(&b, "[[rule]]\naction = %q\ntool = %q\n", []string{"deny", "prompt", "allow"}[r.IntN(3)], []string{"*", "a", "b", "c"}[r.IntN(4)])
			if r.IntN(2) == 0 {
				fmt.Fprintf(&b, "args.x = %q\n", []string{"1*", "2", "*"}[r.IntN(3)])
			}
		}
		return b.String()
	}
	layer := func(file, text string) *policy.Policy {
		p, err := policy.Parse(file, []byte(text), policy.Options{Home: "/home/ana", Layer: policy.Organisation})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	counts := map[replay.Class]int{}
	for range 40 {
		own, before, after := mix(3), mix(3), mix(3)
		if r.IntN(4) > 0 {
			own += "[[rule]]\naction = \"allow\"\ntool = \"*\"\n"
		}
		under := func(top *policy.Policy) *policy.Policy {
			p, err := policy.Parse(ownFile, []byte(own), policy.Options{Home: "/home/ana", Above: []*policy.Policy{top}})
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		was, is := under(layer(bundleFile, before)), under(layer("new.toml", after))
		c, _ := newCentre(t)
		laptop := enrol(t, c, "ana")
		var events []*event.Event
		truth := map[string]policy.Action{}
		for _, tool := range []string{"a", "b", "c", "d"} {
			for _, x := range []string{"1", "2", "12"} {
				call := policy.Call{Server: x, Method: "tools/call", Subject: policy.ToolSubject, Names: []string{tool}, Args: fmt.Appendf(nil, `{"x":%q}`, x)}
				d := was.Decide(&call)
				e := toolCall(d.Action.String(), "", tool, string(call.Args))
				e.Server = x
				if e.Reason = d.Reason; d.Rule != nil {
					e.RuleFile, e.RuleLine = d.Rule.Pos.File, d.Rule.Pos.Line
				}
				events = append(events, e)
				truth[tool+x] = is.Decide(&call).Action
			}
		}
		ship(t, c, laptop, audit.Options{}, events...)
		got := simulate(t, c, after)
		said := map[string]simulation.Group{}
		for _, g := range got.Groups {
			said[g.Tool+g.Server] = g
		}
		for _, e := range events {
			key := e.Names[0] + e.Server
			recorded, _ := policy.ParseAction(e.Policy)
			g, changes := said[key]
			counts[g.Class]++
			ok := !changes && truth[key] == recorded
			switch g.Class {
			case replay.NewlyDenied, replay.NewlyAsked:
				ok = g.To == truth[key].String() && truth[key] < recorded
			case simulation.Released:
				most, _ := policy.ParseAction(g.To)
				ok = truth[key] <= most && most > recorded
			}
			if !ok {
				t.Fatalf("%s was %s and is %s; the simulation says %+v\nown\n%s\nbefore\n%s\nafter\n%s", key, recorded, truth[key], g, own, before, after)
			}
		}
	}
	if counts[""] < 20 || counts[replay.NewlyDenied] < 10 || counts[replay.NewlyAsked] < 5 || counts[simulation.Released] < 10 {
		t.Errorf("%v: the test shows too little", counts)
	}
}

// Many calls of several people: counts by person, server and tool, one group for each kind of change, and
// of what the prover finds, what no record shows.
func TestFleet(t *testing.T) {
	t.Parallel()
	c, secret := newCentre(t)
	publish(t, c, secret, "[[rule]]\naction = \"deny\"\ntool = \"format\"\n")
	const calls = 3000
	for _, person := range []string{"ana", "ben"} {
		laptop := enrol(t, c, person)
		var events []*event.Event
		for i := range calls {
			events = append(events, toolCall("allow", ownFile, []string{"read", "delete"}[i%2], fmt.Sprintf(`{"path":"/srv/%d"}`, i)))
		}
		old := toolCall("allow", ownFile, "delete", `{}`)
		old.Time = time.Now().AddDate(0, 0, -31)
		ship(t, c, laptop, audit.Options{MaxBytes: 200_000}, append(events, old)...)
	}
	before, err := c.Store.ListLaptops(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := simulate(t, c, "[[rule]]\naction = \"deny\"\ntool = [\"format\", \"delete\"]\n[[rule]]\naction = \"prompt\"\ntool = \"drop_*\"\n")
	if r.Decisions != 2*calls || r.Denied != calls || r.Unchanged != calls || r.NotKnown != 0 || r.Present != 1 || r.Laptops != 2 || !r.HasChanges() {
		t.Errorf("%+v", r.Counts)
	}
	if len(r.Groups) != 2 || r.Groups[0].Person != "ana" || r.Groups[0].N != calls/2 || r.Groups[0].Example.Rule.Line != 1 {
		t.Errorf("%+v", r.Groups)
	}
	if len(r.People) != 2 || r.People[1].Denied != calls/2 || len(r.Servers) != 1 || r.Servers[0].Denied != calls || r.Tools[0].Name != "delete" || r.Tools[0].Denied != calls || r.Tools[1].Changed() != 0 {
		t.Errorf("%+v %+v %+v", r.People, r.Servers, r.Tools)
	}
	if len(r.Occurred) != 2 || r.Occurred[0]+r.Occurred[1] != calls {
		t.Errorf("occurred: %v", r.Occurred)
	}
	var text strings.Builder
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Would be denied\n  1500 calls  delete on files, ana: allow -> deny", "/records/", "Could change beside bundle 1, and has not occurred", "tools/call drop_", "6000 decisions of 2 laptops"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text has no %q:\n%s", want, text.String())
		}
	}
	if _, shown, _ := strings.Cut(text.String(), "has not occurred"); strings.Contains(shown, "tools/call delete") {
		t.Errorf("a change that occurred is shown as one that did not:\n%s", text.String())
	}
	var doc map[string]any
	if src, err := json.Marshal(r); err != nil || json.Unmarshal(src, &doc) != nil || doc["newly_denied"] != float64(calls) {
		t.Errorf("%v %v", err, doc["newly_denied"])
	}
	if after, err := c.Store.ListLaptops(t.Context()); err != nil || fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the simulation changed a laptop: %v, %v", after, err)
	}
	if same := simulate(t, c, "[[rule]]\naction = \"deny\"\ntool = \"format\"\n"); same.HasChanges() {
		t.Errorf("the same rules change something: %+v", same.Counts)
	}
}

// A candidate that laptops would refuse is refused.
func TestCandidatesThatAreRefused(t *testing.T) {
	t.Parallel()
	fixture := []byte(`{"method":"tools/call","params":{"name":"a"},"expect":"deny"}`)
	text, err := bundle.Write(bundle.Bundle{Counter: 1, Created: time.Now().UTC().Truncate(time.Second), Files: []bundle.File{{Name: bundle.FixtureName("a.json"), Text: fixture}, {Name: bundle.PolicyName, Text: []byte("[[rule]]\naction = \"deny\"\ntool = \"b\"\n")}}})
	if err != nil {
		t.Fatal(err)
	}
	for src, want := range map[string]string{"[[rule]]\naction = \"no\"": "does not load", string(text): "laptops would not take the bundle", "clawai bundle 1\nx": "cannot be read", "extends = [\"x.toml\"]\n": "does not load"} {
		if _, err := simulation.NewCandidate("new", []byte(src)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", src, err, want)
		}
	}
}

// A simulation that has a bound judges all calls or says that there are more.
func TestTooManyCalls(t *testing.T) {
	c, _ := newCentre(t)
	ship(t, c, enrol(t, c, "ana"), audit.Options{}, toolCall("allow", ownFile, "read", "{}"), toolCall("allow", ownFile, "read", "{}"))
	candidate, err := simulation.NewCandidate("new.toml", []byte(candidate))
	if err != nil {
		t.Fatal(err)
	}
	for most, want := range map[int]error{0: nil, 1: simulation.ErrTooMany, 2: nil} {
		o := simulation.Options{Since: time.Now().AddDate(0, 0, -30), Now: time.Now(), Most: most}
		if _, err := simulation.Run(t.Context(), c.Store, candidate, o); !errors.Is(err, want) {
			t.Errorf("at most %d: %v, want %v", most, err, want)
		}
	}
}

// cancelledStore is a store whose reader goes away while a segment is read.
type cancelledStore struct {
	simulation.Store
	cancel func()
}

func (s *cancelledStore) ReadSegment(ctx context.Context, laptop, name string, from int64, length int) ([]byte, error) {
	text, err := s.Store.ReadSegment(ctx, laptop, name, from, length)
	s.cancel()
	return text, err
}

// A simulation judges nothing more once its reader is gone, also in the middle of what was read at once.
func TestSimulationEndsWithItsReader(t *testing.T) {
	c, _ := newCentre(t)
	ship(t, c, enrol(t, c, "ana"), audit.Options{}, toolCall("allow", ownFile, "read", "{}"), toolCall("allow", ownFile, "read", "{}"))
	candidate, err := simulation.NewCandidate("new.toml", []byte(candidate))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	// The second call would be one too many, if it were reached.
	o := simulation.Options{Since: time.Now().AddDate(0, 0, -30), Now: time.Now(), Most: 1}
	if _, err := simulation.Run(ctx, &cancelledStore{c.Store, cancel}, candidate, o); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}

// A review for which the time is over says what was not compared and not measured; one whose reader has gone is an error.
func TestReviewEndsWithItsReader(t *testing.T) {
	empty, err := simulation.NewCandidate("bundle 0", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, secret := newCentre(t)
	b := bundle.Bundle{Counter: 1, Created: time.Now().UTC().Truncate(time.Second), Files: []bundle.File{
		{Name: bundle.FixtureName("a.json"), Text: []byte(`{"method":"tools/call","params":{"name":"x","arguments":{}},"expected":"deny"}`)},
		{Name: bundle.PolicyName, Text: []byte("[[rule]]\naction = \"deny\"\ntool = \"x\"\n")},
	}}
	src, err := bundle.Write(b)
	if err == nil {
		src, err = bundle.Sign(src, secret)
	}
	if err != nil {
		t.Fatal(err)
	}
	c, err := simulation.NewSentCandidate(t.Context(), "bundle 1", src)
	if err != nil {
		t.Fatal(err)
	}
	r, err := simulation.NewReview(t.Context(), empty, c, false, 0)
	if err != nil || r.Late || r.NotMeasured != "" || r.Points != 1 {
		t.Fatalf("%v, %+v", err, r)
	}
	over, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	r, err = simulation.NewReview(over, empty, c, false, 0)
	if err != nil || !r.Late || !strings.Contains(r.NotMeasured, "longer than a page waits") || r.Points != 0 || len(r.Rules) != 1 ||
		strings.Contains(r.ChangesText(), "Proved") || !strings.Contains(r.ChangesText(), "were not compared") {
		t.Errorf("%v, %+v\n%s", err, r, r.ChangesText())
	}
	if _, err := simulation.NewSentCandidate(over, "bundle 1", src); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("its fixtures are tried longer than anybody waits: %v", err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if r, err := simulation.NewReview(gone, empty, c, false, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %+v", err, r)
	}
}
