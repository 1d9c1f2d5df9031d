package gate

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
)

// The stages that ask Principals, Inspector and Labels, and nobody behind a port.

// judgeCaller refuses a caller for whom nobody vouches.
func (s *Session) judgeCaller(x *Exchange, v *Verdict) bool {
	err := s.o.Principals.Admit(&x.Principal)
	if err == nil {
		return false
	}
	*v = Verdict{Code: CodeUnknownCaller, Reason: "who calls is not known here", owner: err.Error(), unruled: true}
	return true
}

// keepLabels withholds a message of the server's whose labels could not be kept: what was
// withheld before has brought none, and what a person is asked about has.
func (s *Session) keepLabels(x *Exchange, v *Verdict) bool {
	if x.Event.Direction != fromServer {
		return false
	}
	labels := s.o.Labels.Brought(x)
	if len(labels) == 0 {
		return false
	}
	err := s.o.Labels.Add(labels, x.Raw)
	if err == nil {
		return false
	}
	x.Event.Digest = sha256.Sum256(x.OriginalRaw())
	*v = Verdict{Code: CodeWithheld, Reason: "what the session has seen with it could not be kept", owner: err.Error(), unruled: true}
	return true
}

// judgePins refuses calls of what is not as it was approved.
func (s *Session) judgePins(x *Exchange, v *Verdict) bool {
	if !s.lists.Load() {
		return false
	}
	p := *s.policy.Load()
	if !slices.ContainsFunc(x.Calls, func(c policy.Call) bool { return p.Pin(c.Server) > policy.PinRecord }) {
		return false
	}
	why := s.o.Inspector.Bars(x.Calls, p)
	if why == "" {
		return false
	}
	v.Action, v.Code, v.Reason, v.owner = policy.Deny, CodePinned, why, why
	return true
}

// judgeLabels is what the labels of the session make of a call.
func (s *Session) judgeLabels(x *Exchange, v *Verdict) bool {
	action, why := s.o.Labels.Judge(x.Calls)
	if action == policy.Allow {
		if why != "" { // for the record alone
			v.owner = strings.TrimPrefix(v.owner+"; "+why, "; ")
		}
		return false
	}
	if v.labels = cmp.Or(why, "what the session has seen"); action == v.Action { // a question of the rules says this as well
		return false
	}
	v.Action, v.Code, v.Reason, v.owner = action, CodeLabels, why, why
	return true
}

// fromServer is the Direction of an event whose message the server sent.
const fromServer = "server"

// None is nobody behind a port: nobody is told, vouches for anybody, finds anything
// or keeps a label.
type None struct{}

var (
	_ Concluder  = None{}
	_ Principals = None{}
	_ Inspector  = None{}
	_ Labels     = None{}
	_ Caller     = None{}

	errVouched = errors.New("nobody vouches for a principal here")
	errKept    = errors.New("nobody keeps labels here")

	errInspected = errors.New("nobody here looks at what a message carries, and a rule asks for it")
)

// Concluded tells nobody.
func (None) Concluded(Question, Verdict) {}

// Admit lets those call who claim to be nobody, and none else.
func (None) Admit(p *Principal) error {
	if *p != (Principal{}) {
		return errVouched
	}
	return nil
}

// Inspect refuses: a rule has asked.
func (None) Inspect(*Exchange, Policy) (Inspection, error) { return Inspection{}, errInspected }

// Alter refuses.
func (None) Alter(*Exchange, []policy.Alteration, Policy) ([]byte, []string, error) {
	return nil, nil, errInspected
}

// Carries says that nobody knows.
func (None) Carries(*policy.Call, Policy) ([]Found, error) { return nil, errInspected }

// Bars refuses: nobody knows what was approved.
func (None) Bars([]policy.Call, Policy) string { return errInspected.Error() }

// Brought is nothing.
func (None) Brought(*Exchange) []Label { return nil }

// Add refuses: the reply that brought a label is withheld.
func (None) Add([]Label, []byte) error { return errKept }

// Seen is not known.
func (None) Seen([]policy.Call) policy.Seen { return 0 }

// Judge says nothing: there are no labels.
func (None) Judge([]policy.Call) (policy.Action, string) { return policy.Allow, "" }

// Allowed keeps nothing.
func (None) Allowed([]policy.Call) {}

// Named gives no name.
func (None) Named() (name, version string) { return "", "" }

// Client is nil: there is no form to show.
func (None) Client() Client { return nil }

// Back is closed: nobody is away.
func (None) Back() <-chan struct{} { return here }

var here = func() <-chan struct{} {
	ch := make(chan struct{})
	close(ch)
	return ch
}()
