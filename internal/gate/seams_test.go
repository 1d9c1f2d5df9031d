package gate

import (
	"crypto/sha256"
	"errors"
	"testing"

	"github.com/clawai/clawai/policy"
)

// seen are the labels of a test.
type seen struct {
	says   policy.Action
	led    policy.Seen
	why    string
	err    error
	falls  bool
	tells  policy.Seen
	brings []Label // with each message of the server's
	labels []Label
	let    []policy.Call // calls that a person let go
	lost   error         // labels of files cannot be kept
	j      *journal
}

func (l *seen) Brought(*Exchange) []Label { return l.brings }

func (l *seen) Add(labels []Label, _ []byte) error {
	l.j.log("label %s", labels[0].Kind)
	l.labels = append(l.labels, labels...)
	return l.err
}

func (l *seen) Allowed(cs []policy.Call) { l.let = append(l.let, cs...) }

func (l *seen) PassFiles([]policy.Call) error { return l.lost }

func (l *seen) Seen([]policy.Call) policy.Seen { return l.tells }

func (l *seen) Judge([]policy.Call) (policy.Action, policy.Seen, string) {
	if l.falls {
		panic("labels fell")
	}
	return l.says, l.led, l.why
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
		{"allow", seen{says: policy.Allow, lost: errors.New("full"), why: "the labels of a file could not be kept; tell the owner"}, CodeLabels, "decision allow deny labels labels 1"},
		{"prompt", seen{says: policy.Prompt, lost: errors.New("full"), why: "the labels of a file could not be kept; tell the owner"}, CodeLabels, "decision prompt deny labels labels 2"},
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

// What a message of the server's brings along is kept before it goes on, plain or with
// calls in it; where it cannot be kept the message is withheld. One of the client's
// brings nothing.
func TestWhatCannotBeKeptIsWithheld(t *testing.T) {
	for _, fails := range []error{nil, errors.New("no room")} {
		j := newJournal()
		l := &seen{says: policy.Allow, brings: []Label{{Kind: "untrusted", Source: "srv"}}, err: fails, j: j}
		s := sessionOf(t, j, byName, Options{Labels: l})
		mine, plain, told, asks := j.message("mine"), j.message("r"), j.message("n"), j.call("allow")
		for _, x := range []*Exchange{plain, told, asks} {
			x.Event.Direction = "server"
		}
		s.Do(t.Context(), mine, told)
		s.Observe(t.Context(), plain)
		s.Observe(t.Context(), asks)
		j.expect(t, mine, "forward")
		for _, x := range []*Exchange{plain, told, asks} {
			if fails == nil {
				j.expect(t, x, "forward")
				continue
			}
			j.expect(t, x, CodeWithheld)
			if x.Event.Stage != string(StageLabels) || x.Event.Digest != sha256.Sum256(x.Raw) {
				t.Errorf("recorded %s", line(x.Event))
			}
		}
		if len(l.labels) != 3 {
			t.Errorf("kept %v", l.labels)
		}
	}
}

// What is withheld brings nothing.
func TestWhatIsWithheldIsNotKept(t *testing.T) {
	j := newJournal()
	l := &seen{says: policy.Allow, brings: []Label{{Kind: "untrusted"}}, j: j}
	s := screened(t, j, inspects{look: func(*Exchange) (Inspection, error) { return Inspection{}, nil }}, Options{Labels: l})
	x := j.message("r")
	x.Event.Direction = "server"
	s.Observe(t.Context(), x)
	j.expect(t, x, CodeWithheld)
	if len(l.labels) > 0 {
		t.Errorf("kept %v", l.labels)
	}
}

// Where nobody remembers nothing is brought along, and a label would be refused.
func TestNobodyRemembers(t *testing.T) {
	j := newJournal()
	s := sessionOf(t, j, byName, Options{})
	x := j.message("r")
	x.Event.Direction = "server"
	s.Observe(t.Context(), x)
	j.expect(t, x, "forward")
	None{}.Allowed(nil)
	if (None{}).Add([]Label{{Kind: "untrusted"}}, nil) == nil {
		t.Error("nobody kept a label")
	}
}
