package gate

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/clawai/clawai/policy"
)

// closed is the verdict on every message after the session has ended.
var closed = Verdict{Stage: StageGate, Code: CodeClosed, Reason: "the session is over", unruled: true}

func (s *Session) refuseIfClosed(_ *Exchange, v *Verdict) bool {
	if !s.closed.Load() {
		return false
	}
	*v = closed
	return true
}

// isGoverned reports whether x has calls for the rules to judge.
func (x *Exchange) isGoverned() bool { return len(x.Calls)+len(x.Work) > 0 }

// judgeRules applies the rules about calls to x.
func (s *Session) judgeRules(x *Exchange, v *Verdict) bool {
	x.Event.Digest = sha256.Sum256(x.OriginalRaw())
	p := *s.policy.Load()
	d := s.decideCalls(p, x)
	if len(d.Alters) > 0 && d.Action != policy.Deny && !s.o.ObserveOnly {
		d = s.alterRequest(x, d, p)
	}
	v.setDecision(&d)
	if v.Code == CodeDeniedByRule && slices.ContainsFunc(x.Event.Finds, isMarker) {
		v.Code, v.Reason = CodeMarker, "it carries a mark such as [clawai:withheld KIND N], which stands for a text that was withheld and must not be written back: leave that part as it is"
		if x.advice != "" {
			v.Reason = "it carries " + x.advice
		}
	}
	if v.Action == policy.Deny && len(x.judgedCalls) > 0 {
		v.Hint = p.Hint(x.judgedCalls)
	}
	if x.charges = d.Rates; len(d.Rates) == 0 {
		x.refundCharge()
	}
	return true
}

// noRules is a policy without rules. It denies everything.
type noRules struct{}

func (noRules) DecideAll([]policy.Call) (d policy.Decision) { return d }
func (noRules) Timed() bool                                 { return false }
func (noRules) Labelled() bool                              { return false }
func (noRules) Hint([]policy.Call) string                   { return "" }
func (noRules) Revision() string                            { return "" }
func (noRules) Screens(policy.On) ([]string, bool)          { return nil, false }
func (noRules) FindsIn(*policy.Call) bool                   { return false }

func (noRules) Packs() []policy.Pack                                               { return nil }
func (noRules) Pin(string) policy.Pin                                              { return 0 }
func (noRules) DecideReply(policy.On, []policy.Call, []string) (d policy.Decision) { return d }
func (noRules) AlterReply([]policy.Call, []string) []policy.Alteration             { return nil }

// decideCalls returns the decision of the rules. It also judges the earlier allowed calls (Work): a
// deny of them stops the message, but a prompt for them is ignored.
func (s *Session) decideCalls(p Policy, x *Exchange) (d policy.Decision) {
	x.judgedCalls, x.advice = nil, ""
	if len(x.Work) > 0 {
		if d = p.DecideAll(s.inspectArguments(p, x, s.stampCalls(p, s.identifyAgain(x, x.Work)))); d.Action == policy.Deny {
			return d
		}
		if len(x.Calls) == 0 {
			return policy.Decision{Action: policy.Allow}
		}
	}
	x.judgedCalls = s.inspectArguments(p, x, s.stampCalls(p, s.identifyAgain(x, x.Calls)))
	return p.DecideAll(x.judgedCalls)
}

// setFacts stores in the calls the facts that the message does not contain: the folder of relative
// paths, the operating system, and the caller.
func (s *Session) setFacts(x *Exchange) {
	own := s.o.Facts != (policy.Facts{}) // if false, the transport has set all facts except those about the caller
	if !x.isGoverned() || !own && s.o.Identify == nil {
		return
	}
	facts := &x.Event.Facts
	if own {
		*facts = s.o.Facts
		facts.Elsewhere = facts.Elsewhere || s.rooted.Load()
	}
	if s.o.Identify != nil {
		s.o.Identify(facts)
	}
	for _, cs := range [][]policy.Call{x.Calls, x.Work} {
		for i := range cs {
			if own {
				cs[i].Facts = *facts
			} else {
				cs[i].Facts = cs[i].WithIdentity(facts)
			}
		}
	}
}

// identifyAgain returns the calls with the facts about the present caller. These facts may have
// changed while a person was asked. It also updates the event of x.
func (s *Session) identifyAgain(x *Exchange, cs []policy.Call) []policy.Call {
	if s.o.Identify == nil || len(cs) == 0 || !x.held {
		return cs
	}
	now := cs[0].Facts
	if s.o.Identify(&now); now == cs[0].Facts {
		return cs
	}
	cs = slices.Clone(cs)
	for i := range cs {
		cs[i].Facts = cs[i].WithIdentity(&now)
	}
	x.Event.Facts = x.Event.WithIdentity(&now)
	return cs
}

// NoteRoots takes the roots that the client declares: folders or other texts. If a root is not
// Facts.Cwd, a server may resolve relative paths from this root, until the session ends. The caller
// must call NoteRoots before the server sees the roots.
func (s *Session) NoteRoots(roots []string) {
	if slices.ContainsFunc(roots, func(root string) bool { return root != s.o.Facts.Cwd }) {
		s.rooted.Store(true)
	}
}

// stampCalls returns the calls with the time and the labels of the session, if the rules look at
// them. The result holds copies, because an Approver may be reading the originals.
func (s *Session) stampCalls(p Policy, cs []policy.Call) []policy.Call {
	labelled := p.Labelled()
	if !labelled && !p.Timed() {
		return cs
	}
	cs = slices.Clone(cs)
	now, seen := time.Now(), policy.Seen(0)
	if labelled {
		seen = s.o.Labels.Seen(cs)
	}
	for i := range cs {
		cs[i].At, cs[i].Seen = now, seen
	}
	return cs
}

// setDecision sets v to the decision of the rules. An unknown action becomes a deny.
func (v *Verdict) setDecision(d *policy.Decision) {
	*v = Verdict{Rule: d.Rule, owner: d.Reason}
	if d.Reading != "" {
		v.owner = fmt.Sprintf("read as %q", d.Reading)
	}
	switch {
	case d.Action == policy.Allow && d.Rule != nil:
		v.Action, v.Code = policy.Allow, CodeAllowedByRule
	case d.Action == policy.Allow:
		v.Action, v.Code = policy.Allow, CodeUngoverned
	case d.Action == policy.Prompt && d.Rule != nil:
		v.Action, v.led = policy.Prompt, d.Rule.After
	case d.Action == policy.Prompt:
		v.Action = policy.Prompt
	case d.Rule != nil:
		v.Code, v.Reason, v.led = CodeDeniedByRule, "a rule denies it", d.Rule.After
	case d.Reason != "":
		v.Code, v.Reason = CodeMalformed, "no rule may allow it: "+d.Reason
	default:
		v.Code, v.Reason = CodeNoRule, "no rule allows it"
	}
	v.Policy = v.Action
}

// notEnforced is the owner's text in the start record of a session that only observes. Without it,
// a record full of allows could look like a policy at work.
const notEnforced = "OBSERVE ONLY: nothing is enforced in this session; every call passes, whatever the policy says"

// markNotEnforced turns the verdict into an allow in a session that only observes. Policy and Rule
// keep the rules' decision. The reason of a denial goes to the owner, not to the agent.
func markNotEnforced(v *Verdict) {
	if v.owner == "" {
		v.owner = v.Reason
	}
	limited := v.Stage == StageRate && v.Action == policy.Deny
	v.Stage, v.Reason = StageObserve, ""
	switch {
	case limited: // the field Policy does not show the limit, because the rules alone said allow or prompt
		v.Action = policy.Allow
	case v.Action != policy.Allow:
		v.Action, v.Code = policy.Allow, CodeNotEnforced
	}
}
