package gate

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// inspects is an Inspector of one answer, and a Policy with rules about what comes back.
type inspects struct {
	Policy
	look    func(x *Exchange) (Inspection, error)
	carries []Found
	fails   error
	bars    string
}

func (i inspects) Inspect(x *Exchange, _ Policy) (Inspection, error) { return i.look(x) }
func (i inspects) Carries(*policy.Call, Policy) ([]Found, error)     { return i.carries, i.fails }
func (i inspects) Alter(*Exchange, []policy.Alteration, Policy) ([]byte, []string, error) {
	return []byte("altered"), []string{"redact secret"}, i.fails
}
func (i inspects) Bars([]policy.Call, Policy) string  { return i.bars }
func (i inspects) Screens(policy.On) ([]string, bool) { return []string{"secret"}, true }

// aboutArguments are rules about the schemas of arguments, and about nothing that comes back.
type aboutArguments struct{ inspects }

func (aboutArguments) Screens(on policy.On) ([]string, bool) {
	return []string{"schema"}, on == policy.OnCall
}

// screened is a session whose rules look at what comes back.
func screened(t *testing.T, j *journal, in inspects, o Options) *Session {
	if in.Policy == nil {
		in.Policy = byName
	}
	o.Inspector = in
	return sessionOf(t, j, in, o)
}

func passes() Inspection { return Inspection{Decision: policy.Decision{Action: policy.Allow}} }

// What cannot be inspected, or may not go on, is withheld, plain or with calls in it. A
// request is not a reply.
func TestWhatMayNotGoOnIsWithheld(t *testing.T) {
	for name, look := range map[string]func(*Exchange) (Inspection, error){
		"an error": func(*Exchange) (Inspection, error) { return passes(), errors.New("too large") },
		"a deny":   func(*Exchange) (Inspection, error) { return Inspection{Decision: policy.Decision{Rule: denyRule}}, nil },
		"nothing":  func(*Exchange) (Inspection, error) { return Inspection{}, nil },
		"of a kind behind the bound": func(*Exchange) (Inspection, error) {
			return Inspection{Decision: policy.Decision{Rule: denyRule, Kind: "hidden"}, Found: []Found{{Kind: "secret", At: "/a", N: 1}}}, nil
		},
		"no action": func(*Exchange) (Inspection, error) {
			return Inspection{Decision: policy.Decision{Action: 77}, Sent: []byte("x")}, nil
		},
		"what cannot be altered": func(*Exchange) (Inspection, error) {
			return Inspection{Decision: policy.Decision{Rule: denyRule}, Why: "a number"}, nil
		},
		"a panic": func(*Exchange) (Inspection, error) { panic("inspection fell") },
	} {
		j := newJournal()
		s := screened(t, j, inspects{look: look}, Options{})
		plain, asks, list, told, request := j.message("r"), j.call("allow"), j.message("l"), j.message("n"), j.call("allow")
		list.Event.Kind, told.Unasked = event.Listed, true
		s.Observe(t.Context(), plain)
		s.Observe(t.Context(), asks, list)
		s.Do(t.Context(), request, told)
		j.expect(t, request, "forward")
		for _, x := range []*Exchange{plain, asks, list, told} {
			want := CodeWithheld
			if name == "a panic" {
				want = CodePanic
			} else if x.Event.Digest != sha256.Sum256(x.Raw) {
				t.Errorf("%s: recorded without the digest of what was withheld", name)
			}
			j.expect(t, x, want)
			if x.Event.Stage != string(StageReply) || x.Event.Kind != event.Decision || x.Event.Policy != "" {
				t.Errorf("%s: recorded %s, %q", name, line(x.Event), x.Event.Reason)
			}
		}
	}
}

// What is withheld because it was not looked at to its end says so.
func TestWhatWasNotLookedAtIsNamed(t *testing.T) {
	for found, want := range map[string]string{"unscreened": "not all of it was looked at for secret", "secret": ""} {
		j := newJournal()
		s := screened(t, j, inspects{look: func(*Exchange) (Inspection, error) {
			return Inspection{Decision: policy.Decision{Rule: denyRule, Kind: "secret"}, Found: []Found{{Kind: found, At: "/a", N: 1}}}, nil
		}}, Options{})
		x := j.message("r")
		s.Observe(t.Context(), x)
		j.expect(t, x, CodeWithheld)
		if x.Event.Reason != want {
			t.Errorf("with %s found: recorded %q", found, x.Event.Reason)
		}
	}
}

// Without a rule nobody looks; an Inspector that is nobody withholds where one does.
func TestNobodyLooksWithoutARule(t *testing.T) {
	j := newJournal()
	s := sessionOf(t, j, byName, Options{Inspector: inspects{look: func(*Exchange) (Inspection, error) { panic("looked") }}})
	x := j.message("r")
	s.Observe(t.Context(), x)
	j.expect(t, x, "forward")
	s.SetPolicy(inspects{Policy: byName})
	x = j.message("r")
	s.Observe(t.Context(), x)
	j.expect(t, x, CodePanic)
	if !s.Screens() {
		t.Error("a session with rules about replies does not say so")
	}

	if s = sessionOf(t, newJournal(), aboutArguments{inspects{Policy: byName}}, Options{}); !s.Screens() {
		t.Error("nobody looks at lists for what arguments must fit")
	}

	j = newJournal()
	s = sessionOf(t, j, inspects{Policy: byName}, Options{})
	x = j.message("r")
	s.Observe(t.Context(), x)
	j.expect(t, x, CodeWithheld)
}

// What is altered is on record before it goes on, by both digests; when the record fails
// it does not go on.
func TestWhatIsAlteredIsRecordedFirst(t *testing.T) {
	sent := []byte("altered")
	look := func(x *Exchange) (Inspection, error) {
		if string(x.OriginalRaw()) == string(sent) {
			t.Error("what was altered is inspected again")
		}
		i := passes()
		i.Sent, i.Altered, i.Found = sent, []string{"redact secret"}, []Found{{Kind: "secret", At: "/result/a", N: 2}}
		i.Decision.Alters = []policy.Alteration{{Rule: denyRule, Kind: "secret"}}
		return i, nil
	}
	j := newJournal()
	s := screened(t, j, inspects{look: look}, Options{})
	x := j.message("r")
	came := x.Raw
	s.Observe(t.Context(), x)
	j.expect(t, x, "forward")
	ev := &x.Event
	if string(x.Raw) != string(sent) || ev.Digest != sha256.Sum256(came) || ev.Sent != sha256.Sum256(sent) || ev.Bytes != len(came) ||
		ev.Kind != event.Outcome || ev.Decision != "allow" || ev.Code != CodeAltered || ev.RuleLine != 3 ||
		!slices.Equal(ev.Finds, []string{"secret 2 /result/a"}) || !slices.Equal(ev.Altered, []string{"redact secret"}) {
		t.Errorf("sent %q, recorded %+v", x.Raw, ev)
	}
	if !slices.Equal(j.lines, []string{"record 1", "forward altered"}) {
		t.Errorf("in the order %q", j.lines)
	}

	j = newJournal()
	j.record = func() error { return errors.New("disk full") }
	s = screened(t, j, inspects{look: look}, Options{})
	x = j.message("r")
	s.Observe(t.Context(), x)
	j.expect(t, x, CodeRecordFailed)
}

// A session that only observes alters and withholds nothing, and says what was found.
func TestObservingAltersNothing(t *testing.T) {
	for _, d := range []policy.Decision{{Rule: denyRule}, {Action: policy.Prompt, Rule: promptRule}, {Action: policy.Allow}} {
		j := newJournal()
		s := screened(t, j, inspects{look: func(*Exchange) (Inspection, error) {
			return Inspection{Decision: d, Sent: []byte("altered"), Found: []Found{{Kind: "secret", At: "/a", N: 1}}}, nil
		}}, Options{ObserveOnly: true})
		x := j.message("r")
		came := string(x.Raw)
		s.Observe(t.Context(), x)
		j.expect(t, x, "forward")
		if string(x.Raw) != came || x.Event.Code != CodeNotEnforced || len(x.Event.Finds) != 1 || x.Event.Kind != event.Outcome {
			t.Errorf("%v: sent %q, recorded %+v", d.Action, x.Raw, x.Event)
		}
	}
}

// A person who is asked about what came back sees the call that it answers and what was
// found, can release it this once, and nothing is kept of the answer.
func TestAPersonReleasesAReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			reply Reply
			want  string
		}{{AllowOnce, "forward"}, {AllowSession, "forward"}, {DenyOnce, CodeDeniedByPerson}, {DenyAlways, CodeDeniedByPerson}} {
			for _, calls := range []string{"", "allow", "prompt"} {
				j := newJournal()
				var asked []Question
				j.person = func(ctx context.Context, q Question) (Answer, error) {
					asked = append(asked, q)
					return says(tt.reply)(ctx, q)
				}
				s := screened(t, j, inspects{look: func(*Exchange) (Inspection, error) {
					return Inspection{Decision: policy.Decision{Action: policy.Prompt, Rule: promptRule}, Sent: []byte("altered"),
						Found: []Found{{Kind: "secret", At: "/result/a", N: 1}}}, nil
				}}, Options{})
				for range 2 {
					x := j.message("r")
					if calls != "" {
						x = j.call(calls)
					}
					x.Answered = j.call("allow").Calls
					s.Observe(t.Context(), x)
					s.askers.Wait()
					j.expect(t, x, tt.want)
					if tt.want == "forward" && string(x.Raw) != "altered" {
						t.Errorf("released %q", x.Raw)
					}
				}
				if len(asked) != 2 || !asked[0].Reply || asked[0].Session || asked[0].Calls[0].Names[0] != "allow" ||
					!strings.HasPrefix(asked[0].Why, "its answer is held: found secret (1) at /result/a") {
					t.Errorf("asked %d times: %+v", len(asked), asked)
				}
			}
		}
	})
}

// What goes to a model is looked at where a rule is about that, and the question says where it would go.
func TestAPersonReleasesAnUpload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		var asked []Question
		j.person = func(ctx context.Context, q Question) (Answer, error) {
			asked = append(asked, q)
			return says(AllowOnce)(ctx, q)
		}
		s := screened(t, j, inspects{look: func(*Exchange) (Inspection, error) {
			return Inspection{Decision: policy.Decision{Action: policy.Prompt, Rule: promptRule}, Found: []Found{{Kind: "secret", At: "/text", N: 1}}}, nil
		}}, Options{})
		if !s.ScreensUploads() {
			t.Error("no rule looks at uploads")
		}
		x := j.message("r")
		x.Upload = true
		s.Observe(t.Context(), x)
		s.askers.Wait()
		j.expect(t, x, "forward")
		if len(asked) != 1 || !strings.HasPrefix(asked[0].Why, "it would go to the service of the model: found secret") {
			t.Errorf("asked %+v", asked)
		}
	})
}

func TestAReplyNobodyReleasesIsWithheld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		j.person = func(ctx context.Context, _ Question) (Answer, error) {
			<-ctx.Done()
			return Answer{}, ctx.Err()
		}
		s := screened(t, j, inspects{look: func(*Exchange) (Inspection, error) {
			return Inspection{Decision: policy.Decision{Action: policy.Prompt, Rule: promptRule}}, nil
		}}, Options{})
		x := j.message("r")
		x.Replies = []*Exchange{j.call("allow")}
		x.Replies[0].Answered = x.Replies[0].Calls
		s.Observe(t.Context(), x)
		time.Sleep(time.Hour)
		s.askers.Wait()
		j.expect(t, x, CodeNotAnswered)
	})
}

// What calls carry is known to the rules where one asks; where it cannot be known, they
// are told so.
func TestWhatCallsCarry(t *testing.T) {
	var seen []policy.Call
	p := rules(func(cs []policy.Call) policy.Decision {
		seen = append(seen, cs...)
		return policy.Decision{Action: policy.Allow, Rule: allowRule}
	})
	wanted, _ := inspects{Policy: p}.Screens(policy.OnCall)
	for _, fails := range []error{nil, errors.New("too long")} {
		j := newJournal()
		seen = nil
		s := screened(t, j, inspects{Policy: p, carries: []Found{{Kind: "secret", At: "/a", N: 1}, {Kind: "secret", At: "/b", N: 2}}, fails: fails}, Options{})
		x := j.call("allow")
		s.Do(t.Context(), x)
		j.expect(t, x, "forward")
		c := &seen[0]
		switch {
		case fails != nil && (c.Screened || c.Finds != nil || x.Event.Looked != nil):
			t.Errorf("it failed, and the rules were told %v, the record %v", c.Finds, x.Event.Looked)
		case fails == nil && (!c.Screened || !slices.Equal(c.Finds, []string{"secret"}) || len(x.Event.Finds) != 2 || !slices.Equal(x.Event.Looked, wanted)):
			t.Errorf("the rules were told %v, the record %v of %v", c.Finds, x.Event.Finds, x.Event.Looked)
		}
	}
}

// What a rule takes out of a server's request is taken out before it goes on, or it does
// not go on.
func TestARequestOfTheServerIsAltered(t *testing.T) {
	alters := rules(func([]policy.Call) policy.Decision {
		return policy.Decision{Action: policy.Allow, Rule: allowRule, Alters: []policy.Alteration{{Rule: denyRule}}}
	})
	for _, fails := range []error{nil, errors.New("too long")} {
		j := newJournal()
		s := screened(t, j, inspects{Policy: alters, fails: fails, look: func(*Exchange) (Inspection, error) { return passes(), nil }}, Options{})
		x := j.call("allow")
		came := x.Raw
		s.Do(t.Context(), x)
		if fails != nil {
			j.expect(t, x, CodeDeniedByRule)
			continue
		}
		j.expect(t, x, "forward")
		if string(x.Raw) != "altered" || x.Event.Digest != sha256.Sum256(came) || x.Event.Sent != sha256.Sum256(x.Raw) {
			t.Errorf("sent %q, recorded %+v", x.Raw, x.Event)
		}
		x = j.call("allow")
		s.Observe(t.Context(), x)
		j.expect(t, x, CodeDeniedByRule)
	}
	j := newJournal()
	s := sessionOf(t, j, alters, Options{})
	x := j.call("allow")
	s.Do(t.Context(), x)
	j.expect(t, x, CodeDeniedByRule)
}

// A message that answers no call is asked about by its method; without rules nothing that
// came back goes on.
func TestWithoutACall(t *testing.T) {
	x := &Exchange{asks: "its answer is held", Event: event.Event{Method: "notifications/message"}}
	if cs := x.shownCalls(); len(cs) != 1 || cs[0].Names[0] != "notifications/message" || cs[0].Subject != policy.MethodSubject {
		t.Errorf("a person is shown %+v", cs)
	}
	if d := (noRules{}).DecideReply(policy.OnReply, nil, nil); d.Action != policy.Deny {
		t.Errorf("no rules say %v", d.Action)
	}
	if (noRules{}).FindsIn(&policy.Call{}) {
		t.Error("no rules look into a call")
	}
	if all := (noRules{}).AlterReply([]policy.Call{tool("read")}, []string{"secret"}); all != nil {
		t.Errorf("no rules alter %v", all)
	}
	if p := (noRules{}).Packs(); p != nil {
		t.Errorf("no rules look for %v", p)
	}
}

// elsewhere has rules with finds that can match no call.
type elsewhere struct{ Policy }

func (elsewhere) FindsIn(*policy.Call) bool { return false }

// Nobody looks into a call that no rule with a find can match.
func TestNoRuleLooksIntoTheCall(t *testing.T) {
	for want, p := range map[Code]Policy{"forward": elsewhere{always(allowRule)}, CodeMarker: always(denyRule)} {
		j := newJournal()
		s := screened(t, j, inspects{Policy: p, carries: []Found{{Kind: "marker", At: "/text", N: 1}}}, Options{})
		x := j.call("allow")
		s.Do(t.Context(), x)
		j.expect(t, x, want)
		if looked := len(x.Event.Looked) > 0; looked != (want == CodeMarker) {
			t.Errorf("%v: looked for %v", want, x.Event.Looked)
		}
	}
}

// Whoever writes a mark back is told what it stands for.
func TestAMarkerIsNotWrittenBack(t *testing.T) {
	j := newJournal()
	s := screened(t, j, inspects{Policy: always(denyRule), carries: []Found{{Kind: "marker", At: "/text", N: 1}}}, Options{})
	x := j.call("allow")
	s.Do(t.Context(), x)
	j.expect(t, x, CodeMarker)
	if !strings.Contains(j.verdicts[x].Reason, "must not be written back") {
		t.Errorf("the agent is told %q", j.verdicts[x].Reason)
	}
	if _, err := (None{}).Carries(nil, nil); err == nil {
		t.Error("nobody looks, and says that nothing is there")
	}
	s = screened(t, j, inspects{Policy: always(denyRule), carries: []Found{{Kind: "marker", At: "/text", N: 1, Advice: "<U+200B>, which is shown"}}}, Options{})
	x = j.call("allow")
	s.Do(t.Context(), x)
	j.expect(t, x, CodeMarker)
	if got := j.verdicts[x].Reason; got != "it carries <U+200B>, which is shown" {
		t.Errorf("the agent is told %q", got)
	}
}

func TestFindsAreBounded(t *testing.T) {
	many := make([]Found, maxFinds+3)
	if all := findingLines(many); len(all) != maxFinds+1 || all[maxFinds] != "and 3 more" {
		t.Errorf("%q", all)
	}
	many[maxFinds+1].Kind = "card"
	if all := findingLines(many); all[0] != " 0 " || all[1] != "card 0 " || len(all) != maxFinds+1 {
		t.Errorf("a kind is left out: %q", all)
	}
	if s := findingText(many); strings.Count(s, " at ") != 6 {
		t.Error(s)
	}
	if s := findingText(nil); s == "" {
		t.Error("nothing is told of a rule without a find")
	}
}

// What nobody has asked for waits for nobody: it is withheld where a rule would ask.
func TestWhatNobodyAskedForQueuesNoQuestion(t *testing.T) {
	look := func(*Exchange) (Inspection, error) {
		return Inspection{Decision: policy.Decision{Action: policy.Prompt, Rule: promptRule}}, nil
	}
	j := newJournal()
	s := screened(t, j, inspects{look: look}, Options{})
	told := j.message("n")
	told.Unasked, told.Event.Direction = true, "server"
	s.Do(t.Context(), told)
	j.expect(t, told, CodeWithheld)
	if told.Event.Stage != string(StageAsk) {
		t.Errorf("recorded %s, %q", line(told.Event), told.Event.Reason)
	}
}
