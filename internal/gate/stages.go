package gate

import (
	"context"
	"fmt"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// Stage names the step of the gate that decided a verdict.
type Stage string

// The stages.
const (
	StageGate   Stage = "gate"  // the session is over
	StageReply  Stage = "reply" // the rules about the contents of a reply
	StagePolicy Stage = "policy"
	StagePins   Stage = "pins"   // the comparison with a server's approved lists
	StageRate   Stage = "rate"   // a limit of a rule
	StageLabels Stage = "labels" // the labels of the session
	StageAsk    Stage = "ask"
	StageRecord Stage = "record"

	// StageObserve is the stage of every judged exchange, and of the start record, in a session
	// with Options.ObserveOnly.
	StageObserve Stage = "observe"
)

// stage is one step of the order. Its judge function gets in v the verdict of the earlier stages
// and writes its own verdict into v. It returns false, and leaves v unchanged, when it has no
// opinion.
type stage struct {
	name  Stage
	scope messages
	judge func(s *Session, x *Exchange, v *Verdict) (ok bool)
}

// messages tells which messages a stage judges.
type messages uint8

const (
	everyMessage messages = iota
	governed              // messages with calls for the rules
)

// order lists the stages that every message passes before it is recorded. runStages ensures that a
// later stage only makes a verdict stricter. The order cannot be configured.
var order = []stage{
	{StageGate, everyMessage, (*Session).refuseIfClosed},
	{StageReply, everyMessage, (*Session).inspectReply},
	{StageLabels, everyMessage, (*Session).keepLabels},
	{StagePolicy, governed, (*Session).judgeRules},
	{StagePins, governed, (*Session).judgePins},
	{StageRate, governed, (*Session).judgeLimits},
	{StageLabels, governed, (*Session).judgeLabels},
	{StageLabels, governed, (*Session).passFiles},
	{StageAsk, governed, (*Session).deniedForGood},
}

// beforeAsking lists the stages that a prompt passes once before a person is asked.
var beforeAsking = []stage{
	{StageAsk, governed, (*Session).deniedRecently},
	{StageAsk, everyMessage, (*Session).throttleQuestion},
}

// crossGate handles messages from start to end. It runs the stages of order and, for a prompt,
// those of beforeAsking. Then it records all of xs in one write and forwards or refuses them. A
// message that needs a person goes to startAsking and ends in concludeExchange.
func (s *Session) crossGate(ctx context.Context, kind event.Kind, xs []*Exchange) {
	b := batches.Get().(*batch)
	defer b.releaseBatch()
	for _, x := range xs {
		x.reply = kind == event.Outcome
		if x.Event.Kind == "" {
			x.Event.Kind = kind
		}
		s.setFacts(x)
		s.annotateCalls(x)
		v := s.judgeExchange(x)
		if v.Action == policy.Prompt {
			s.runStages(beforeAsking, x)
			x.noteVerdict(v)
		}
		b.addExchange(x)
	}
	err := s.recordEvents(b.events)
	for _, x := range xs {
		v := &x.verdict
		switch {
		case err != nil:
			refuseExchange(x, recordFailedVerdict(v))
		case v.Action == policy.Prompt:
			s.startAsking(ctx, x, v.Rule)
		default:
			s.deliverVerdict(x, v)
		}
	}
}

// passReplies runs the stages of order on plain replies and then forwards them. The next record
// writes their outcomes.
func (s *Session) passReplies(xs []*Exchange) {
	for _, x := range xs {
		x.reply, x.Event.Kind = true, event.Outcome
		v := s.judgeExchange(x)
		if v.Action != policy.Allow {
			s.concludeExchange(x, *v, nil)
			continue
		}
		lost := forwardExchange(x)
		s.pending.addEvent(&x.Event)
		if lost != "" {
			s.pending.addEvent(lossEvent(&x.Event, x.Event.Ref, lost))
		}
	}
}

// concludeExchange records an exchange that waited and then forwards or refuses it. It records the
// person's answer, if there is one, before the decision. It returns the final verdict.
func (s *Session) concludeExchange(x *Exchange, v Verdict, answered *event.Event) Verdict {
	events := []*event.Event{&x.Event}
	if answered != nil {
		events = []*event.Event{answered, &x.Event}
	}
	if s.recordEvents(events) != nil {
		v = recordFailedVerdict(&v)
		refuseExchange(x, v)
		return v
	}
	v.Record = x.Event.Record
	if v.endorsed {
		runHook(func() { s.o.Labels.Allowed(x.Calls) })
	}
	s.deliverVerdict(x, &v)
	return v
}

// judgeExchange runs the stages of order on x and writes the verdict into its event.
func (s *Session) judgeExchange(x *Exchange) *Verdict {
	x.Event.Bytes = len(x.OriginalRaw())
	x.verdict = ungoverned
	s.runStages(order, x)
	if s.o.ObserveOnly || x.verdict.Action == policy.Prompt {
		s.liftVerdict(x)
	}
	x.noteVerdict(&x.verdict)
	return &x.verdict
}

// ungoverned is the verdict before the first stage. It allows, so a message passes if no stage
// decides.
var ungoverned = Verdict{Action: policy.Allow, Policy: policy.Allow, Stage: StagePolicy, Code: CodeUngoverned}

// runStages runs stages on x. The strictest action wins, and the verdict has the name of the last
// stage that decided. An unknown action or a panic is a deny, and a deny ends the loop.
func (s *Session) runStages(stages []stage, x *Exchange) {
	at, v, all := StageGate, &x.verdict, x.isGoverned()
	defer x.recoverStage(&at)
	for i := range stages {
		if stages[i].scope == governed && !all {
			continue
		}
		at = stages[i].name
		stood := v.Action
		if !stages[i].judge(s, x, v) {
			v.Action = stood
			continue
		}
		v.Stage = at
		if v.Action > policy.Allow || v.Action.AltersContent() {
			v.Action = policy.Deny
		}
		if v.Action = min(v.Action, stood); v.Action == policy.Deny {
			return
		}
	}
}

// liftVerdict is the only function that makes a verdict of the order less strict. A grant of the
// session turns a prompt into an allow. In a session that only observes, liftVerdict turns every
// refusal by rules, limits or labels into an allow. It never lifts the refusal of a closed session,
// a withheld reply, a panic or a failed record. A person can release only the next answer to the
// call of a withheld reply (releaseReply).
func (s *Session) liftVerdict(x *Exchange) {
	at, v := StageAsk, &x.verdict
	defer x.recoverStage(&at)
	switch {
	case v.unruled || x.asks != "" || !x.isGoverned():
	case s.o.ObserveOnly:
		markNotEnforced(v)
	case v.Action == policy.Prompt && v.labels == "" && (v.Rule == nil || v.Rule.Approval == nil):
		s.applyGrant(x, v)
	}
}

// recoverStage is deferred. If a stage has panicked, it refuses x. The parameter at points to the
// name of the running stage.
func (x *Exchange) recoverStage(at *Stage) {
	if cause := recover(); cause != nil {
		x.verdict = panicVerdict(x, *at, cause)
	}
}

// panicVerdict returns the refusal of an exchange after a stage panicked.
func panicVerdict(x *Exchange, at Stage, cause any) Verdict {
	x.Event.Policy = "" // the decision of the rules had no effect
	return Verdict{Stage: at, Code: CodePanic, Reason: "judging it failed inside clawai; tell the owner",
		owner: fmt.Sprintf("panic: %v", cause), unruled: true}
}

// recordFailedVerdict returns the refusal of a message that could not be recorded.
func recordFailedVerdict(v *Verdict) Verdict {
	return Verdict{Policy: v.Policy, Rule: v.Rule, Stage: StageRecord, Code: CodeRecordFailed,
		Reason: "it could not be recorded; tell the owner"}
}
