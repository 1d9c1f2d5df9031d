package gate

import (
	"crypto/sha256"
	"fmt"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// judge asks the rules, writes what they say into x.Event, and settles a prompt
// that a person has answered for the session, or lifts anything when the session
// only observes. A panic denies.
func (s *Session) judge(x *Exchange) (v Verdict) {
	defer func() {
		if r := recover(); r != nil {
			v = s.panicked(x, r)
		}
	}()
	x.Event.Bytes = len(x.Raw)
	if x.Event.Server == "" {
		x.Event.Server = s.o.Server
	}
	if s.closed.Load() {
		return s.over(x)
	}
	if len(x.Calls)+len(x.Work) == 0 {
		return Verdict{Action: policy.Allow, Policy: policy.Allow, Stage: StagePolicy, Code: CodeUngoverned}
	}
	x.Event.Kind = event.Decision
	x.Event.Digest = sha256.Sum256(x.Raw)
	d := decided(*s.policy.Load(), x)
	v = s.rate(x, ruled(d), d.Rates)
	owner := d.Reason
	switch {
	case v.Stage == StageRate:
		owner = v.Reason
	case d.Reading != "":
		owner = fmt.Sprintf("read as %q", d.Reading)
	}
	switch {
	case s.o.ObserveOnly:
		v, owner = observed(v, owner)
	case v.Action == policy.Prompt:
		v = s.recall(v, x.Calls)
	}
	x.note(v, owner)
	return v
}

// decided is what the rules say. A nil policy denies. Whether work that was let
// through before may go on is not asked again, only whether it is denied by now.
func decided(p Policy, x *Exchange) (d policy.Decision) {
	if p == nil {
		return d
	}
	if len(x.Work) > 0 {
		if d = p.DecideAll(timed(p, x.Work)); d.Action == policy.Deny {
			return d
		}
		if len(x.Calls) == 0 {
			return policy.Decision{Action: policy.Allow}
		}
	}
	return p.DecideAll(timed(p, x.Calls))
}

// ruled is the verdict of the rules alone; an action that is none of the three
// is a deny.
func ruled(d policy.Decision) Verdict {
	v := Verdict{Stage: StagePolicy, Rule: d.Rule}
	switch {
	case d.Action == policy.Allow && d.Rule != nil:
		v.Action, v.Code = policy.Allow, CodeAllowedByRule
	case d.Action == policy.Allow:
		v.Action, v.Code = policy.Allow, CodeUngoverned
	case d.Action == policy.Prompt:
		v.Action = policy.Prompt
	case d.Rule != nil:
		v.Code, v.Reason = CodeDeniedByRule, "a rule denies it"
	case d.Reason != "":
		v.Code, v.Reason = CodeMalformed, "no rule may allow it: "+d.Reason
	default:
		v.Code, v.Reason = CodeNoRule, "no rule allows it"
	}
	v.Policy = v.Action
	return v
}

// note writes a verdict into the record of x; owner is the reason in words that
// only the owner reads.
func (x *Exchange) note(v Verdict, owner string) {
	ev := &x.Event
	ev.Policy, ev.Decision = v.Policy.String(), v.Action.String()
	ev.Stage, ev.Code, ev.Reason = string(v.Stage), v.Code, owner
	ev.RuleFile, ev.RuleLine, ev.RuleText = "", 0, ""
	if r := v.Rule; r != nil {
		ev.RuleFile, ev.RuleLine, ev.RuleText = r.Pos.File, r.Pos.Line, r.Description
	}
}

// panicked is the refusal of an exchange over which a stage of the gate fell.
func (s *Session) panicked(x *Exchange, cause any) Verdict {
	v := Verdict{Stage: StageGate, Code: CodePanic,
		Reason: "judging it failed inside clawai; tell the owner"}
	x.refused(v, fmt.Sprintf("panic: %v", cause))
	return v
}

// over is the refusal of everything that comes to a closed session. What the rules
// said before stays on record.
func (s *Session) over(x *Exchange) Verdict {
	v := Verdict{Stage: StageGate, Code: CodeClosed, Reason: "the session is over"}
	said := x.Event.Policy
	x.refused(v, "")
	x.Event.Policy = said
	return v
}

// refused notes a refusal that the rules had no part in.
func (x *Exchange) refused(v Verdict, owner string) {
	x.Event.Kind = event.Decision
	x.note(v, owner)
	x.Event.Policy = ""
}

// unrecorded is the refusal of what could not be recorded.
func unrecorded(v *Verdict) Verdict {
	return Verdict{Policy: v.Policy, Rule: v.Rule, Stage: StageRecord, Code: CodeRecordFailed,
		Reason: "it could not be recorded; tell the owner"}
}
