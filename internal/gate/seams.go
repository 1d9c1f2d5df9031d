package gate

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/clawai/clawai/policy"
)

// The stages that ask Principals, Inspector and Labels, and nobody behind a port.

// known refuses a caller for whom nobody vouches.
func (s *Session) known(x *Exchange, v *Verdict) bool {
	err := s.o.Principals.Admit(&x.Principal)
	if err == nil {
		return false
	}
	*v = Verdict{Code: CodeUnknownCaller, Reason: "who calls is not known here", owner: err.Error(), unruled: true}
	return true
}

// inspected withholds a reply that could not be inspected, whose labels could not be
// kept, or in which something was found: no rule looks at replies.
func (s *Session) inspected(x *Exchange, v *Verdict) bool {
	if !x.reply {
		return false
	}
	found, err := s.o.Inspector.Inspect(x)
	if err == nil && len(found.Labels) > 0 {
		err = s.o.Labels.Add(found.Labels)
	}
	if err == nil && len(found.Findings)+len(found.Edits) > 0 {
		err = fmt.Errorf("%d findings, %d edits, and no rule that lets it go on", len(found.Findings), len(found.Edits))
	}
	if err == nil {
		return false
	}
	x.Event.Digest = sha256.Sum256(x.Raw)
	*v = Verdict{Code: CodeWithheld, Reason: "what it carries may not go on", owner: err.Error(), unruled: true}
	return true
}

// labelled is what the labels of the session make of a call.
func (s *Session) labelled(x *Exchange, v *Verdict) bool {
	action, why := s.o.Labels.Judge(x.Calls)
	if action == policy.Allow || action == v.Action {
		return false
	}
	v.Action, v.Code, v.Reason, v.owner = action, CodeLabels, why, why
	return true
}

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

// Inspect finds nothing.
func (None) Inspect(*Exchange) (Inspection, error) { return Inspection{}, nil }

// Add refuses: the reply that brought a label is withheld.
func (None) Add([]Label) error { return errKept }

// Judge says nothing: there are no labels.
func (None) Judge([]policy.Call) (policy.Action, string) { return policy.Allow, "" }

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
