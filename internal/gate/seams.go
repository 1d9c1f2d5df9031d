package gate

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
)

// This file holds the stages that use Inspector and Labels. It also holds the type None, which is
// the empty implementation of the ports.

// keepLabels adds the labels of a server's message to the session. If this fails, it withholds the
// message and returns true. If an earlier stage has withheld the message, its labels are not added.
// If the message waits for a person, its labels are added at once.
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

// judgePins refuses calls when the tool, prompt or other list entry that a call names differs from
// the approved one.
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

// judgeLabels applies the session's labels to the calls of x.
func (s *Session) judgeLabels(x *Exchange, v *Verdict) bool {
	action, led, why := s.o.Labels.Judge(x.Calls)
	if action == policy.Allow {
		if why != "" { // a reason without an action goes only to the record
			v.owner = strings.TrimPrefix(v.owner+"; "+why, "; ")
		}
		return false
	}
	v.led |= led &^ policy.Known
	if v.labels = cmp.Or(why, "what the session has seen"); action == v.Action { // the rules already ask a person, and the question now also shows this reason
		return false
	}
	v.Action, v.Code, v.Reason, v.owner = action, CodeLabels, why, why
	return true
}

// passFiles refuses calls when Labels cannot note the files that these calls read or write.
func (s *Session) passFiles(x *Exchange, v *Verdict) bool {
	err := s.o.Labels.PassFiles(x.Calls)
	if err == nil {
		return false
	}
	v.Action, v.Code, v.Reason, v.owner = policy.Deny, CodeLabels, "the labels of a file could not be kept; tell the owner", err.Error()
	return true
}

// fromServer is the Direction of an event whose message the server sent.
const fromServer = "server"

// None implements the ports as empty services: it sends no message, stores no label, releases
// nothing, and every inspection fails.
type None struct{}

var (
	_ Concluder = None{}
	_ Inspector = None{}
	_ Labels    = None{}
	_ Releases  = None{}
	_ Caller    = None{}

	errKept = errors.New("nobody keeps labels here")

	errInspected = errors.New("a rule needs the contents of the message, and nothing here can search them")
)

// Concluded does nothing.
func (None) Concluded(Question, Verdict) {}

// Inspect always fails, because a rule needs an inspection and None cannot inspect.
func (None) Inspect(*Exchange, Policy) (Inspection, error) { return Inspection{}, errInspected }

// Alter always fails, because None cannot alter.
func (None) Alter(*Exchange, []policy.Alteration, Policy) ([]byte, []string, error) {
	return nil, nil, errInspected
}

// Carries always fails, because None cannot search.
func (None) Carries(*policy.Call, Policy) ([]Found, error) { return nil, errInspected }

// Bars always returns a reason, because the approved lists are unknown.
func (None) Bars([]policy.Call, Policy) string { return errInspected.Error() }

// Brought returns no labels.
func (None) Brought(*Exchange) []Label { return nil }

// Add always fails, so the gate withholds the message that brought a label.
func (None) Add([]Label, []byte) error { return errKept }

// Seen returns 0, which means unknown.
func (None) Seen([]policy.Call) policy.Seen { return 0 }

// Judge always allows, because there are no labels.
func (None) Judge([]policy.Call) (a policy.Action, led policy.Seen, why string) {
	return policy.Allow, 0, ""
}

// PassFiles does nothing, because there are no labels.
func (None) PassFiles([]policy.Call) error { return nil }

// Allowed does nothing.
func (None) Allowed([]policy.Call) {}

// Name returns "": no answer can be released.
func (None) Name([32]byte) string { return "" }

// Waits returns false.
func (None) Waits(string) bool { return false }

// Take returns no release.
func (None) Take(string) (r Release, ok bool) { return r, false }

// Named returns empty strings.
func (None) Named() (name, version string) { return "", "" }

// Client returns nil: there is no form to show.
func (None) Client() Client { return nil }

// Back returns a closed channel: the caller is never away.
func (None) Back() <-chan struct{} { return alwaysBack }

var alwaysBack = func() <-chan struct{} {
	ch := make(chan struct{})
	close(ch)
	return ch
}()
