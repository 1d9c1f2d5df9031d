package gate

import (
	"crypto/sha256"
	"errors"
	"slices"
	"testing"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// A caller for whom nobody vouches goes nowhere, whatever it says, whatever the rules
// say, and in a session that only observes too. Nobody in particular is let in.
func TestACallerNobodyKnows(t *testing.T) {
	for _, p := range []Principal{{ID: "local:ana"}, {Role: "admin"}, {Environment: "production"}} {
		for _, observes := range []bool{false, true} {
			j := newJournal()
			s := sessionOf(t, j, byName, Options{ObserveOnly: observes})
			call, message, reply, nobody := j.call("allow"), j.message("n"), j.message("r"), j.call("allow")
			call.Principal, message.Principal, reply.Principal = p, p, p
			s.Do(t.Context(), call, message, nobody)
			s.Observe(t.Context(), reply)
			for i, x := range []*Exchange{call, message, reply} {
				j.expect(t, x, CodeUnknownCaller)
				if x.Event.Stage != string(StageCaller) || x.Event.Kind != event.Decision || x.Event.Policy != "" {
					t.Errorf("%d: recorded %s", i, line(x.Event))
				}
			}
			j.expect(t, nobody, "forward")
		}
	}
}

// seen are the labels of a test.
type seen struct {
	says   policy.Action
	why    string
	err    error
	falls  bool
	labels []Label
	j      *journal
}

func (l *seen) Add(labels []Label) error {
	l.j.log("label %s", labels[0].Kind)
	l.labels = append(l.labels, labels...)
	return l.err
}

func (l *seen) Judge([]policy.Call) (policy.Action, string) {
	if l.falls {
		panic("labels fell")
	}
	return l.says, l.why
}

func TestLabelsOnlyTighten(t *testing.T) {
	for _, tt := range []struct {
		call   string
		labels seen
		want   string
		record string
	}{
		{"allow", seen{says: policy.Allow}, "forward", "decision allow allow policy allowed_by_rule 1"},
		{"allow", seen{says: policy.Deny, why: "it has seen a secret"}, CodeLabels, "decision allow deny labels labels 1"},
		{"allow", seen{says: 9}, CodeLabels, "decision allow deny labels labels 1"},
		{"allow", seen{says: policy.Prompt}, "forward", "decision allow allow ask allowed_by_person 1"},
		{"allow", seen{falls: true}, CodePanic, "decision  deny labels panic 0"},
		{"prompt", seen{says: policy.Allow}, "forward", "decision prompt allow ask allowed_by_person 2"},
		{"prompt", seen{says: policy.Deny}, CodeLabels, "decision prompt deny labels labels 2"},
		{"deny", seen{says: policy.Allow}, CodeDeniedByRule, "decision deny deny policy denied_by_rule 3"},
	} {
		j := newJournal()
		j.person = says(AllowOnce)
		s := sessionOf(t, j, byName, Options{Labels: &tt.labels})
		x := j.call(tt.call)
		s.Do(t.Context(), x)
		s.askers.Wait()
		j.expect(t, x, tt.want)
		if got := line(x.Event); got != tt.record {
			t.Errorf("%s, labels say %v: recorded %s", tt.call, tt.labels.says, got)
		}
		if v := j.verdicts[x]; v.Code == CodeLabels && v.Reason != tt.labels.why {
			t.Errorf("the agent is told %q", v.Reason)
		}
	}
}

// inspects is an Inspector of one answer.
type inspects func(x *Exchange) (Inspection, error)

func (i inspects) Inspect(x *Exchange) (Inspection, error) { return i(x) }

// Until rules look at replies, whatever is found in one withholds it, plain or with
// calls in it, also where nothing is enforced. A request is not a reply.
func TestWhatIsFoundWithholdsAReply(t *testing.T) {
	for name, inspect := range map[string]inspects{
		"an error": func(*Exchange) (Inspection, error) { return Inspection{}, errors.New("too large") },
		"a finding": func(*Exchange) (Inspection, error) {
			return Inspection{Findings: []Finding{{Kind: "secret", At: Span{1, 2}}}}, nil
		},
		"an edit": func(*Exchange) (Inspection, error) { return Inspection{Edits: []Edit{{At: Span{1, 2}}}}, nil },
		"a label that nobody keeps": func(*Exchange) (Inspection, error) {
			return Inspection{Labels: []Label{{Kind: "untrusted", Source: "srv"}}}, nil
		},
		"a panic": func(*Exchange) (Inspection, error) { panic("inspection fell") },
	} {
		for _, observes := range []bool{false, true} {
			j := newJournal()
			s := sessionOf(t, j, byName, Options{Inspector: inspect, ObserveOnly: observes})
			plain, asks, list, request := j.message("r"), j.call("allow"), j.message("l"), j.call("allow")
			list.Event.Kind = event.Listed
			s.Observe(t.Context(), plain)
			s.Observe(t.Context(), asks, list)
			s.Do(t.Context(), request)
			j.expect(t, request, "forward")
			for _, x := range []*Exchange{plain, asks, list} {
				want := CodeWithheld
				if name == "a panic" {
					want = CodePanic
				} else if x.Event.Digest != sha256.Sum256(x.Raw) {
					t.Errorf("%s: recorded without the digest of what was withheld", name)
				}
				j.expect(t, x, want)
				if x.Event.Stage != string(StageReply) || x.Event.Kind != event.Decision || x.Event.Reason == "" {
					t.Errorf("%s: recorded %s, %q", name, line(x.Event), x.Event.Reason)
				}
			}
		}
	}
}

// What a reply brings is known before a byte of it goes on; a label that cannot be
// kept withholds it.
func TestLabelsAreKeptBeforeAReplyGoesOn(t *testing.T) {
	untrusted := []Label{{Kind: "untrusted", Source: "srv"}}
	inspect := inspects(func(*Exchange) (Inspection, error) { return Inspection{Labels: untrusted}, nil })
	for _, err := range []error{nil, errors.New("disk full")} {
		j := newJournal()
		l := &seen{says: policy.Allow, j: j, err: err}
		s := sessionOf(t, j, byName, Options{Inspector: inspect, Labels: l})
		x := j.message("r")
		s.Observe(t.Context(), x)
		want, became := []string{"label untrusted", "forward r"}, "forward"
		if err != nil {
			want, became = []string{"label untrusted", "record 1", "refuse r"}, CodeWithheld
		}
		j.expect(t, x, became)
		if !slices.Equal(j.lines, want) || !slices.Equal(l.labels, untrusted) {
			t.Errorf("%v: %q, labels %v", err, j.lines, l.labels)
		}
	}
}
