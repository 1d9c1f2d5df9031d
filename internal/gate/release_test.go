package gate

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/clawai/clawai/policy"
)

// released is what a person released, in memory.
type released struct {
	waits map[string]Release
	named int  // how often a name was asked for
	lost  bool // another process takes each release first
}

func (r *released) Name(value [32]byte) string { r.named++; return fmt.Sprintf("%x", value) }

func (r *released) Waits(name string) bool { _, ok := r.waits[name]; return ok }

func (r *released) Take(name string) (Release, bool) {
	one, ok := r.waits[name]
	delete(r.waits, name)
	return one, ok && !r.lost
}

// grant is a person who releases the next answer of the name.
func (r *released) grant(name string) {
	r.waits = map[string]Release{name: {Record: "r-1", By: "ana"}}
}

// reads is an Inspector that finds the kinds whose words stand in a reply, asks the rules, and alters
// the text as they say.
type reads struct {
	inspects
	fails bool // it cannot look a second time
	stuck bool // it cannot alter
	looks int  // how often it looked
}

func (r *reads) Inspect(x *Exchange, p Policy) (i Inspection, err error) {
	r.looks++
	if _, again := p.(releasedRules); again && r.fails {
		return passes(), errors.New("not twice")
	}
	text, kinds := string(x.Raw), []string(nil)
	for _, kind := range []string{"hidden", "card", "secret"} {
		if strings.Contains(text, kind) {
			kinds, i.Found = append(kinds, kind), append(i.Found, Found{Kind: kind, At: "/result", N: 1})
		}
	}
	i.Decision, i.Looked = p.DecideReply(policy.OnReply, x.Answered, kinds), []string{"card", "hidden", "secret"}
	if i.Decision.Action == policy.Deny || len(i.Decision.Alters) == 0 {
		return i, nil
	}
	if r.stuck {
		i.Decision, i.Why = policy.Decision{Rule: i.Decision.Alters[0].Rule}, "a number"
		return i, nil
	}
	for _, a := range i.Decision.Alters {
		how := strings.TrimSpace(a.Rule.Action.String() + " " + a.Kind)
		if i.Altered = append(i.Altered, how); a.Rule.Action == policy.Redact {
			text = strings.ReplaceAll(text, a.Kind, "*")
		} else {
			text = how + "<" + text + ">"
		}
	}
	i.Sent = []byte(text)
	return i, nil
}

// releasing is a session whose rules withhold what is hidden, ask about cards, and take secrets out.
func releasing(t *testing.T, j *journal, r Releases, look *reads, o Options) *Session {
	t.Helper()
	var text strings.Builder
	for _, one := range []string{"deny hidden", "prompt card", "redact secret"} {
		action, kind, _ := strings.Cut(one, " ")
		fmt.Fprintf(&text, "[[rule]]\non = 'reply'\naction = %q\nfind = [%q]\ndescription = 'no %s'\n\n", action, kind, kind)
	}
	p, err := policy.Parse("p.toml", []byte(text.String()), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o.Releases, o.Inspector = r, look
	return sessionOf(t, j, p, o)
}

// answer is the server's answer to a call of the tool "read".
func (j *journal) answer(raw string) *Exchange {
	x := j.message(raw)
	x.Event.Direction, x.Answered = fromServer, []policy.Call{tool("read")}
	return x
}

// A person who released the answer to a call lets the next one through, once: fenced, without what a
// rule takes out, and with the person and the withheld answer on record.
func TestAReleasedAnswerPassesOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		raw, sent, policy, without string
		line                       int
	}{
		"denied":              {"hidden secret", "fence<hidden *>", "deny", CodeWithheld, 1},
		"denied and asked":    {"card hidden", "fence<card hidden>", "deny", CodeWithheld, 1},
		"asked about":         {"card", "fence<card>", "prompt", CodeNobodyToAsk, 7},
		"asked and taken out": {"card secret secret", "fence<card * *>", "prompt", CodeNobodyToAsk, 7},
	} {
		j, r := newJournal(), &released{}
		s := releasing(t, j, r, &reads{}, Options{})
		hear := func(want string) *Exchange {
			x := j.answer(tt.raw)
			s.Observe(t.Context(), x)
			s.askers.Wait()
			j.expect(t, x, want)
			return x
		}
		before := hear(tt.without)
		d := j.verdicts[before]
		if before.Event.Release == "" || !d.Releasable || before.Event.Names[0] != "read" || string(before.Event.Args) != `{"a":1}` {
			t.Errorf("%s: it cannot be released: %+v", name, before.Event)
		}
		if denial := d.NewDenial(before.Answered[0]); !denial.Releasable || denial.Record != before.Event.Record || denial.Description == "" {
			t.Errorf("%s: the agent is told %+v", name, denial)
		}

		r.grant(before.Event.Release)
		asked := slices.Index(j.lines, "ask")
		x := hear("forward")
		ev := &x.Event
		if string(x.Raw) != tt.sent || ev.Sent != sha256.Sum256([]byte(tt.sent)) || ev.Digest != sha256.Sum256([]byte(tt.raw)) {
			t.Errorf("%s: sent %q, recorded %x and %x", name, x.Raw, ev.Digest, ev.Sent)
		}
		if want := fmt.Sprintf("outcome  allow reply released %d", tt.line); line(*ev) != want {
			t.Errorf("%s: recorded %s, want %s", name, line(*ev), want)
		}
		if ev.Reason != "ana released the next answer to the call of record r-1" || ev.Names[0] != "read" || ev.Release != before.Event.Release {
			t.Errorf("%s: recorded %+v", name, ev)
		}
		if len(ev.Finds) != len(before.Event.Finds) || len(ev.Looked) != 3 || !slices.Contains(ev.Altered, "fence") ||
			slices.Contains(ev.Altered, "redact secret") != strings.Contains(tt.raw, "secret") {
			t.Errorf("%s: recorded finds %q, looked %q, altered %q", name, ev.Finds, ev.Looked, ev.Altered)
		}
		if v := x.verdict; v.Policy.String() != tt.policy {
			t.Errorf("%s: the rules said %v", name, v.Policy)
		}
		if slices.Index(j.lines, "ask") != asked {
			t.Errorf("%s: a person is asked again: %q", name, j.lines)
		}
		if again := hear(tt.without); again.Event.Release != before.Event.Release || !j.verdicts[again].Releasable {
			t.Errorf("%s: the second answer is recorded as %+v", name, again.Event)
		}
	}
}

// A release holds for the answers to that call alone, and is not used up by others.
func TestAReleaseHoldsForOneCall(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(x *Exchange)
		o      Options
	}{
		"other arguments":     {change: func(x *Exchange) { x.Answered[0].Args = []byte(`{"a":2}`) }},
		"other spelling":      {change: func(x *Exchange) { x.Answered[0].Args = []byte(`{"a": 1}`) }},
		"other tool":          {change: func(x *Exchange) { x.Answered[0].Names = []string{"write"} }},
		"other method":        {change: func(x *Exchange) { x.Answered[0].Subject, x.Answered[0].Method = policy.PromptSubject, "prompts/get" }},
		"other data":          {change: func(x *Exchange) { x.Answered[0].Extra = []byte(`{"task":{}}`) }},
		"other server":        {change: func(x *Exchange) { x.Event.Server = "other" }},
		"other server's call": {change: func(x *Exchange) { x.Answered[0].Server = "other" }},
		"a call more":         {change: func(x *Exchange) { x.Answered = append(x.Answered, tool("read")) }},
		"call's other folder": {change: func(x *Exchange) { x.Answered[0].Cwd = "/b" }},
		"other address":       {o: Options{Upstream: "b"}},
		"other folder":        {o: Options{Upstream: "a", Facts: policy.Facts{Cwd: "/b"}}},
	} {
		j, r := newJournal(), &released{}
		s := releasing(t, j, r, &reads{}, Options{Upstream: "a"})
		first := j.answer("hidden")
		s.Observe(t.Context(), first)
		r.grant(first.Event.Release)

		on, other := s, j.answer("hidden")
		if tt.change != nil {
			tt.change(other)
		} else {
			on = releasing(t, j, r, &reads{}, tt.o)
		}
		on.Observe(t.Context(), other)
		if j.expect(t, other, CodeWithheld); other.Event.Release == first.Event.Release || len(r.waits) != 1 {
			t.Errorf("%s: has the same release, or used it up", name)
		}
		same := j.answer("hidden")
		s.Observe(t.Context(), same)
		if j.expect(t, same, "forward"); string(same.Raw) != "fence<hidden>" {
			t.Errorf("%s: sent %q", name, same.Raw)
		}
	}
}

// What the rules pass as it is uses up no release, and nor does what cannot be altered as they say, or
// cannot be looked at again. What another process has taken is withheld.
func TestAReleaseThatIsNotUsed(t *testing.T) {
	for name, tt := range map[string]struct {
		raw, want string
		look      reads
		lost      bool
		waits     int
	}{
		"what passes":                   {raw: "plain", want: "forward", waits: 1},
		"what passes without secrets":   {raw: "secret", want: "forward", waits: 1},
		"what cannot be altered":        {raw: "hidden", want: CodeWithheld, look: reads{stuck: true}, waits: 1},
		"what cannot be looked at":      {raw: "hidden", want: CodeWithheld, look: reads{fails: true}, waits: 1},
		"what another process has used": {raw: "hidden", want: CodeWithheld, lost: true},
	} {
		j, r := newJournal(), &released{lost: tt.lost}
		look := reads{}
		s := releasing(t, j, r, &look, Options{})
		first := j.answer("hidden")
		s.Observe(t.Context(), first)
		r.grant(first.Event.Release)
		look = tt.look
		x := j.answer(tt.raw)
		s.Observe(t.Context(), x)
		j.expect(t, x, tt.want)
		if len(r.waits) != tt.waits || x.Event.Code == CodeReleased || strings.Contains(string(x.Raw), "fence") {
			t.Errorf("%s: %d wait, sent %q, recorded %s", name, len(r.waits), x.Raw, line(x.Event))
		}
		if releasable := tt.want == CodeWithheld; j.verdicts[x].Releasable != releasable || (x.Event.Release != "") != releasable {
			t.Errorf("%s: releasable %v, recorded %q", name, j.verdicts[x].Releasable, x.Event.Release)
		}
	}
}

// An Inspector that has nothing to alter sends the released answer as it came.
func TestAReleasedAnswerWithoutATextPassesAsItCame(t *testing.T) {
	j, r := newJournal(), &released{}
	bare := inspects{look: func(*Exchange) (Inspection, error) { return passes(), nil }}
	held := Inspection{Decision: policy.Decision{Rule: denyRule}}
	s := screened(t, j, bare, Options{Releases: r})
	x := j.answer("r")
	r.grant(fmt.Sprintf("%x", s.releaseValue(x)))
	var v Verdict
	if !s.releaseReply(x, &v, byName, &held) || v.Action != policy.Allow || v.Code != CodeReleased || v.Rule != denyRule ||
		string(x.Raw) != "r" || x.Event.Sent != [32]byte{} || x.Event.Digest != sha256.Sum256([]byte("r")) {
		t.Errorf("%q, %+v", x.Raw, v)
	}
}

// Only the server's answer to calls that a person is shown whole can be released, and not where
// nothing is enforced, or nobody keeps releases.
func TestWhatNobodyCanRelease(t *testing.T) {
	list := policy.Call{Server: "srv", Method: "tools/list", Subject: policy.MethodSubject, Names: []string{"tools/list"}}
	for name, tt := range map[string]struct {
		change func(x *Exchange)
		look   reads
		o      Options
		raw    string
		want   string
		named  int
	}{
		"an answer":              {want: CodeWithheld, named: 1},
		"unasked":                {change: func(x *Exchange) { x.Unasked = true }, want: CodeWithheld},
		"the client's":           {change: func(x *Exchange) { x.Event.Direction = "client" }, want: CodeWithheld},
		"no call":                {change: func(x *Exchange) { x.Answered = nil }, want: CodeWithheld},
		"a method":               {change: func(x *Exchange) { x.Answered = []policy.Call{list} }, want: CodeWithheld},
		"a method and a tool":    {change: func(x *Exchange) { x.Answered = append(x.Answered, list) }, want: CodeWithheld},
		"what cannot be altered": {look: reads{stuck: true}, raw: "secret", want: CodeWithheld},
		"nothing is enforced":    {o: Options{ObserveOnly: true}, want: "forward"},
		"nothing is withheld":    {raw: "plain", want: "forward"},
	} {
		j, r := newJournal(), &released{}
		s := releasing(t, j, r, &tt.look, tt.o)
		x := j.answer("hidden")
		if tt.raw != "" {
			x.Raw = []byte(tt.raw)
		}
		if tt.change != nil {
			tt.change(x)
		}
		s.Observe(t.Context(), x)
		j.expect(t, x, tt.want)
		if r.named != tt.named || (x.Event.Release != "") != (tt.named > 0) || j.verdicts[x].Releasable != (tt.named > 0) {
			t.Errorf("%s: %d names, recorded %q, releasable %v", name, r.named, x.Event.Release, j.verdicts[x].Releasable)
		}
		if tt.look.looks != 1 {
			t.Errorf("%s: without a release it is looked at %d times", name, tt.look.looks)
		}
	}

	j := newJournal()
	s := releasing(t, j, None{}, &reads{}, Options{})
	x := j.answer("hidden")
	s.Observe(t.Context(), x)
	if j.expect(t, x, CodeWithheld); x.Event.Release != "" || j.verdicts[x].Releasable {
		t.Errorf("nobody keeps releases, and it can be released: %+v", x.Event)
	}
	if (None{}).Waits("") {
		t.Error("a release waits where nobody keeps them")
	}
	if one, ok := (None{}).Take(""); ok || one != (Release{}) {
		t.Errorf("nobody released %+v", one)
	}
}

// An answer that a person was asked about, and that nobody decided on in time, can be released later.
func TestAnAnswerThatNobodyDecidedOnCanBeReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for want, person := range map[string]func(context.Context, Question) (Answer, error){CodeNotAnswered: silent, CodeDeniedByPerson: says(DenyOnce)} {
			j := newJournal()
			j.person = person
			s := releasing(t, j, &released{}, &reads{}, Options{})
			x := j.answer("card")
			s.Observe(t.Context(), x)
			s.askers.Wait()
			if j.expect(t, x, want); x.Event.Release == "" || !j.verdicts[x].Releasable {
				t.Errorf("%s: %+v", want, x.Event)
			}
		}
	})
}

// The rules for a released answer open no list: of a list the rules say what they said before.
func TestAReleaseOpensNoList(t *testing.T) {
	p, err := policy.Parse("p.toml", []byte("[[rule]]\non = 'list'\naction = 'deny'\ntool = 'read'\n[[rule]]\non = 'reply'\naction = 'deny'\ntool = 'read'\n"), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	open := releasedRules{p}
	if d := open.DecideReply(policy.OnList, []policy.Call{tool("read")}, nil); d.Action != policy.Deny || d.Rule.On != policy.OnList {
		t.Errorf("of a list they say %+v", d)
	}
	if d := open.DecideReply(policy.OnReply, []policy.Call{tool("read")}, nil); d.Action != policy.Allow || len(d.Alters) != 1 || d.Alters[0].Rule.Action != policy.Fence {
		t.Errorf("of a released answer they say %+v", d)
	}
	if d := open.DecideAll([]policy.Call{tool("read")}); d.Action != policy.Deny {
		t.Errorf("of a call they say %v", d.Action)
	}
}

// The record of a withheld answer names the call that it answers, if it is one call and the answer
// has no calls of its own.
func TestTheRecordOfAWithheldAnswerNamesItsCall(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(x *Exchange)
		want   string
	}{
		"one call":      {func(*Exchange) {}, `["read"] {"a":1}`},
		"two calls":     {func(x *Exchange) { x.Answered = append(x.Answered, tool("write")) }, "[] "},
		"its own calls": {func(x *Exchange) { x.Calls = []policy.Call{tool("ask")} }, "[] "},
		"what passes":   {func(x *Exchange) { x.Raw = []byte("plain") }, "[] "},
	} {
		j := newJournal()
		s := releasing(t, j, &released{}, &reads{}, Options{})
		x := j.answer("hidden")
		tt.change(x)
		s.Observe(t.Context(), x)
		if got := fmt.Sprintf("%q %s", x.Event.Names, x.Event.Args); got != tt.want {
			t.Errorf("%s: recorded %s, want %s", name, got, tt.want)
		}
	}
}
