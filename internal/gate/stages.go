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
	{StageGate, everyMessage, (*Session).open},
	{StageCaller, everyMessage, (*Session).known},
	{StageReply, everyMessage, (*Session).inspected},
	{StageLabels, everyMessage, (*Session).kept},
	{StagePolicy, governed, (*Session).ruled},
	{StagePins, governed, (*Session).barred},
	{StageRate, governed, (*Session).counted},
	{StageLabels, governed, (*Session).labelled},
	{StageAsk, governed, (*Session).deniedForGood},
}

// unasked is what a prompt meets once, before a person is asked.
var unasked = []stage{
	{StageAsk, governed, (*Session).deniedRecently},
	{StageAsk, everyMessage, (*Session).throttled},
}

// cross is the whole way of a message that is recorded before it goes on: the
// order, then whether a person can be asked, the record of all of xs in one write,
// and out, or to the person (hold), who ends in conclude.
func (s *Session) cross(ctx context.Context, kind event.Kind, xs []*Exchange) {
	b := batches.Get().(*batch)
	defer b.free()
	for _, x := range xs {
		x.reply = kind == event.Outcome
		if x.Event.Kind == "" {
			x.Event.Kind = kind
		}
		s.place(x)
		s.annotate(x)
		v := s.judge(x)
		if v.Action == policy.Prompt {
			s.run(unasked, x)
			x.note(v)
		}
		b.add(x)
	}
	err := s.record(b.events)
	for _, x := range xs {
		v := &x.verdict
		switch {
		case err != nil:
			refuse(x, unrecorded(v))
		case v.Action == policy.Prompt:
			s.hold(ctx, x, v.Rule)
		default:
			s.deliver(x, v)
		}
	}
}

// pass is the way of plain replies: the order, out, and the record of the outcome
// with whatever is recorded next.
func (s *Session) pass(xs []*Exchange) {
	for _, x := range xs {
		x.reply, x.Event.Kind = true, event.Outcome
		v := s.judge(x)
		if v.Action != policy.Allow {
			s.conclude(x, *v, nil)
			continue
		}
		lost := forward(x)
		s.pending.add(&x.Event)
		if lost != "" {
			s.pending.add(loss(&x.Event, x.Event.Ref, lost))
		}
	}
}

// conclude is the second half of the way for an exchange that waited: record,
// out. A person's answer, if there was one, is recorded before the decision. It
// returns what became of x.
func (s *Session) conclude(x *Exchange, v Verdict, answered *event.Event) Verdict {
	events := []*event.Event{&x.Event}
	if answered != nil {
		events = []*event.Event{answered, &x.Event}
	}
	if s.record(events) != nil {
		v = unrecorded(&v)
		refuse(x, v)
		return v
	}
	v.Record = x.Event.Record
	if v.endorsed {
		hook(func() { s.o.Labels.Allowed(x.Calls) })
	}
	s.deliver(x, &v)
	return v
}

// judge takes x through the order and writes what came of it into its event.
func (s *Session) judge(x *Exchange) *Verdict {
	x.Event.Bytes = len(x.Came())
	x.verdict = ungoverned
	s.run(order, x)
	if s.o.ObserveOnly || x.verdict.Action == policy.Prompt {
		s.lift(x)
	}
	x.note(&x.verdict)
	return &x.verdict
}

// ungoverned is what the order tightens: a message that no stage has a word on
// passes.
var ungoverned = Verdict{Action: policy.Allow, Policy: policy.Allow, Stage: StagePolicy, Code: CodeUngoverned}

// run takes x through stages. Whatever they say, the strictest action stands, with the
// name of the stage that spoke last; an action that is none of the three is a deny, a
// panic is one, and a deny ends the walk.
func (s *Session) run(stages []stage, x *Exchange) {
	at, v, all := StageGate, &x.verdict, x.governed()
	defer x.guard(&at)
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
		if v.Action > policy.Allow || v.Action.Alters() {
			v.Action = policy.Deny
		}
		if v.Action = min(v.Action, stood); v.Action == policy.Deny {
			return
		}
	}
}

// lift is the one place that loosens what the order says. A person's answer that
// holds for the session lifts a prompt. A session that only observes lifts what the
// rules, their limits and the labels say, and nothing else: a closed session, a caller
// nobody knows, a withheld reply and a panic have refused, a failed record will.
func (s *Session) lift(x *Exchange) {
	at, v := StageAsk, &x.verdict
	defer x.guard(&at)
	switch {
	case v.unruled || x.asks != "" || !x.governed():
	case s.o.ObserveOnly:
		observe(v)
	case v.Action == policy.Prompt && v.labels == "":
		s.grant(x, v)
	}
}

// guard refuses x when the stage falls that it is deferred over.
func (x *Exchange) guard(at *Stage) {
	if cause := recover(); cause != nil {
		x.verdict = panicked(x, *at, cause)
	}
}

// panicked is the refusal of an exchange over which a stage fell.
func panicked(x *Exchange, at Stage, cause any) Verdict {
	x.Event.Policy = "" // whatever the rules said, nobody went by it
	return Verdict{Stage: at, Code: CodePanic, Reason: "judging it failed inside clawai; tell the owner",
		owner: fmt.Sprintf("panic: %v", cause), unruled: true}
}

// unrecorded is the refusal of what could not be recorded.
func unrecorded(v *Verdict) Verdict {
	return Verdict{Policy: v.Policy, Rule: v.Rule, Stage: StageRecord, Code: CodeRecordFailed,
		Reason: "it could not be recorded; tell the owner"}
}
