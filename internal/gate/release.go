package gate

import (
	"crypto/sha256"
	"fmt"

	"github.com/clawai/clawai/policy"
)

// releaseReply forwards a reply that the rules withhold or ask about, if a person has released the
// next answer to its call. Such a reply is always fenced, and the redactions of the rules are still
// made. If there is no release, releaseReply only notes in the event how a person can release the
// answer.
func (s *Session) releaseReply(x *Exchange, v *Verdict, p Policy, found *Inspection) bool {
	if found.Decision.Action != policy.Allow && len(x.Answered) == 1 && !x.isGoverned() {
		x.Event.Names, x.Event.Args = x.Answered[0].Names, x.Answered[0].Args // the record of a withheld reply names its call
	}
	if !s.isReleasable(x, found) {
		return false
	}
	x.Event.Release = s.o.Releases.Name(s.releaseValue(x))
	if x.Event.Release == "" || !s.o.Releases.Waits(x.Event.Release) {
		return false
	}
	open, err := s.o.Inspector.Inspect(x, releasedRules{p})
	if err != nil || open.Decision.Action != policy.Allow {
		return false // a redaction cannot be made, or the fence marks cannot be put around the texts
	}
	r, ok := s.o.Releases.Take(x.Event.Release)
	if !ok {
		return false
	}
	x.Event.Finds, x.Event.Looked, x.Event.Altered = findingLines(open.Found), open.Looked, open.Altered
	x.Event.Digest = sha256.Sum256(x.Raw)
	if open.Sent != nil {
		x.received, x.Raw = x.Raw, open.Sent
		x.Event.Sent = sha256.Sum256(x.Raw)
	}
	*v = Verdict{Action: policy.Allow, Policy: found.Decision.Action, Rule: found.Decision.Rule, Code: CodeReleased,
		owner: fmt.Sprintf("%s released the next answer to the call of record %s", oneLine(r.By, maxName), oneLine(r.Record, maxName)), unruled: true, noted: true}
	return true
}

// isReleasable reports whether a person can release the next reply like this one. The rules must
// withhold the reply or ask about it, and it must answer calls of the client that a person can see
// in full.
func (s *Session) isReleasable(x *Exchange, found *Inspection) bool {
	return found.Decision.Action != policy.Allow && found.Why == "" && !s.o.ObserveOnly &&
		!x.Unasked && x.Event.Direction == fromServer && len(x.Answered) > 0 && isGrantable(x.Answered)
}

// releaseValue returns the digest of the answered calls and of the server.
func (s *Session) releaseValue(x *Exchange) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%x %q %s", valueOf(x.Answered), x.Event.Server, s.granted.server))
}

// releasedRules are the rules for a reply that a person released.
type releasedRules struct{ Policy }

// releasedRule fences all texts of a reply that a person released.
var releasedRule = policy.Rule{Action: policy.Fence, Description: "A person released it"}

// DecideReply allows the reply with the changes of all rules and with the fence.
func (r releasedRules) DecideReply(on policy.On, calls []policy.Call, kinds []string) policy.Decision {
	if on != policy.OnReply {
		return r.Policy.DecideReply(on, calls, kinds)
	}
	return policy.Decision{Action: policy.Allow, Alters: append(r.Policy.AlterReply(calls, kinds), policy.Alteration{Rule: &releasedRule})}
}
