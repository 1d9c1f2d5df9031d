package gate

import (
	"time"

	"github.com/clawai/clawai/internal/audit"
	"github.com/clawai/clawai/policy"
)

// Exchange is one message that wants to cross the gate. A transport fills it
// in, hands it to Session.Do or Session.Observe, and does not touch it until
// the Outlet is called.
type Exchange struct {
	Raw   []byte        // the exact bytes that are judged, recorded and forwarded
	Calls []policy.Call // what the rules judge, strictest wins; none: passed on and recorded
	Event audit.Event   // what the transport knows of it; the gate adds the verdict
	Out   Outlet        // where it goes
}

// Outlet is the transport's side of one exchange. For each exchange the gate
// calls exactly one of Forward and Refuse, exactly once, perhaps from another
// goroutine when a person was asked. There is no other way through.
type Outlet interface {
	Forward(x *Exchange) error
	Refuse(x *Exchange, v Verdict)
	// Waiting is called while a person is being asked, so that the caller can
	// be kept alive (notifications/progress).
	Waiting(x *Exchange, elapsed time.Duration)
}

// Verdict is what the gate decided and why. The zero value is a deny.
type Verdict struct {
	Action policy.Action
	Policy policy.Action // what the rules alone said
	Rule   *policy.Rule  // nil when none matched
	Stage  Stage
	Code   string // stable machine word, e.g. "denied_by_rule", "no_rule", "not_answered"
	Reason string // for the agent: no rule position, no path, no secret
	Record string // the record id to quote to the owner
}

// Stage names the step of the gate that decided.
type Stage string

const (
	StagePolicy Stage = "policy"
	StageAsk    Stage = "ask"
	StageRecord Stage = "record"
	StageGate   Stage = "gate" // a panic or a closed session
)
