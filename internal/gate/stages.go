package gate

import (
	"context"
	"fmt"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// Stage names the step of the gate that decided.
type Stage string

// The stages.
const (
	StageGate   Stage = "gate"   // the session is over
	StageCaller Stage = "caller" // who calls
	StageReply  Stage = "reply"  // what a reply carries
	StagePolicy Stage = "policy"
	StagePins   Stage = "pins"   // what was approved of a server's lists
	StageRate   Stage = "rate"   // a limit of a rule
	StageLabels Stage = "labels" // what the session has seen
	StageAsk    Stage = "ask"
	StageRecord Stage = "record"

	// StageObserve stands on every judged exchange, and on the start, of a
	// session that enforces nothing (Options.ObserveOnly).
	StageObserve Stage = "observe"
)

// stage is one step of the order. In v it finds what the stages before it have left
// of x, and writes its own verdict; false is no opinion, and v as it was.
type stage struct {
	name  Stage
	of    messages
	judge func(s *Session, x *Exchange, v *Verdict) (ok bool)
}

// messages are those that a stage is asked about.
type messages uint8

const (
	everyMessage messages = iota
	governed              // with something in it for the rules
)

// order is what every message meets before it is recorded: run sees to it that
// each stage can only tighten. It cannot be configured.
var order = []stage{
	{StageGate, everyMessage, (*Session).refuseIfClosed},
	{StageCaller, everyMessage, (*Session).judgeCaller},
	{StageReply, everyMessage, (*Session).inspectReply},
	{StageLabels, everyMessage, (*Session).keepLabels},
	{StagePolicy, governed, (*Session).judgeRules},
	{StagePins, governed, (*Session).judgePins},
	{StageRate, governed, (*Session).judgeLimits},
	{StageLabels, governed, (*Session).judgeLabels},
	{StageAsk, governed, (*Session).deniedForGood},
}

// unasked is what a prompt meets once, before a person is asked.
var unasked = []stage{
	{StageAsk, governed, (*Session).deniedRecently},
	{StageAsk, everyMessage, (*Session).throttleQuestion},
}

// crossGate is the whole way of a message that is recorded before it goes on: the
// order, then whether a person can be asked, the record of all of xs in one write,
// and out, or to the person (hold), who ends in conclude.
func (s *Session) crossGate(ctx context.Context, kind event.Kind, xs []*Exchange) {
	b := batches.Get().(*batch)
	defer b.releaseBatch()
	for _, x := range xs {
		x.reply = kind == event.Outcome
		if x.Event.Kind == "" {
			x.Event.Kind = kind
		}
		s.setWorkFolder(x)
		s.annotateCalls(x)
		v := s.judgeExchange(x)
		if v.Action == policy.Prompt {
			s.runStages(unasked, x)
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

// passReplies is the way of plain replies: the order, out, and the record of the outcome
// with whatever is recorded next.
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

// concludeExchange gives the second half of the way for an exchange that waited: record,
// out. A person's answer, if there was one, is recorded before the decision. It
// returns what became of x.
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

// judgeExchange takes x through the order and writes what came of it into its event.
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

// ungoverned is what the order tightens: a message that no stage has a word on
// passes.
var ungoverned = Verdict{Action: policy.Allow, Policy: policy.Allow, Stage: StagePolicy, Code: CodeUngoverned}

// runStages takes x through stages. Whatever they say, the strictest action stands, with the
// name of the stage that spoke last; an action that is none of the three is a deny, a
// panic is one, and a deny ends the walk.
func (s *Session) runStages(stages []stage, x *Exchange) {
	at, v, all := StageGate, &x.verdict, x.isGoverned()
	defer x.recoverStage(&at)
	for i := range stages {
		if stages[i].of == governed && !all {
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

// liftVerdict is the one place that loosens what the order says. A person's answer that
// holds for the session lifts a prompt. A session that only observes lifts what the
// rules, their limits and the labels say, and nothing else: a closed session, a caller
// nobody knows, a withheld reply and a panic have refused, a failed record will.
func (s *Session) liftVerdict(x *Exchange) {
	at, v := StageAsk, &x.verdict
	defer x.recoverStage(&at)
	switch {
	case v.unruled || x.asks != "" || !x.isGoverned():
	case s.o.ObserveOnly:
		markNotEnforced(v)
	case v.Action == policy.Prompt && v.labels == "":
		s.applyGrant(x, v)
	}
}

// recoverStage refuses x when the stage falls that it is deferred over.
func (x *Exchange) recoverStage(at *Stage) {
	if cause := recover(); cause != nil {
		x.verdict = panicVerdict(x, *at, cause)
	}
}

// panicVerdict gives the refusal of an exchange over which a stage fell.
func panicVerdict(x *Exchange, at Stage, cause any) Verdict {
	x.Event.Policy = "" // whatever the rules said, nobody went by it
	return Verdict{Stage: at, Code: CodePanic, Reason: "judging it failed inside clawai; tell the owner",
		owner: fmt.Sprintf("panic: %v", cause), unruled: true}
}

// recordFailedVerdict gives the refusal of what could not be recorded.
func recordFailedVerdict(v *Verdict) Verdict {
	return Verdict{Policy: v.Policy, Rule: v.Rule, Stage: StageRecord, Code: CodeRecordFailed,
		Reason: "it could not be recorded; tell the owner"}
}
