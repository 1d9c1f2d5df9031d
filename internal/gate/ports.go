package gate

import (
	"context"
	"time"

	"github.com/clawai/clawai/internal/audit"
	"github.com/clawai/clawai/policy"
)

// Recorder writes the audit record. Record returns only when every event is in
// the log; an error means none of the exchanges they describe may go on.
type Recorder interface {
	// Record fills in each event's record id (ev.Record) and writes them, in
	// order, in one write.
	Record(events ...*audit.Event) error
}

// Approver asks a person. Ask returns when there is an answer, when ctx ends,
// or when nobody can be asked; every error is a deny. Implementations must
// answer only for the Question they were given.
type Approver interface {
	Ask(ctx context.Context, q Question) (Answer, error)
}

// Question is what a person is shown: the calls exactly as they would be
// executed. Everything in it but Rule comes from the wire and is hostile.
type Question struct {
	Calls    []policy.Call // at least one; more for one result with several input requests
	Rule     policy.Rule   // the first rule that asked
	Digest   [32]byte      // of the frame's bytes; the answer holds for these only
	Deadline time.Time
}

// Reply is what a person said. The zero value is a deny.
type Reply uint8

const (
	DenyOnce Reply = iota
	AllowOnce
	AllowSession // this call again, until the session ends
	AllowAlways  // a rule has been written above the one that asked
)

// Answer is a person's reply and how it was given.
type Answer struct {
	Reply  Reply
	Digest [32]byte // the question's; a different one is a deny
	Rung   string   // "terminal", ...
	Note   string   // why nobody could be asked, or what was written
}
