package learn

import (
	"math"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// tally counts equal calls. The weights depend on the age of the calls.
type tally struct {
	Approved, Refused float64 // a person was asked and said yes or no
	Passed            float64 // a rule at that time allowed the call
	Observed          float64 // nothing was enforced

	Calls, Yes, No int // Yes and No count Approved and Refused
	First, Last    time.Time
	Record         string // the first record
	sessions       map[string]bool
}

// maxSessions bounds the number of sessions counted separately.
const maxSessions = 1000

// addDecision counts one decision. The codes are those of docs/denials.md and
// of the record.
func (t *tally) addDecision(e *event.Entry, was policy.Action, weight float64, form bool) {
	t.Calls++
	t.Last = e.Time
	t.addSession(e.Session)
	switch {
	case e.Stage == "observe":
		t.Observed += weight
	case e.Code == "allowed_by_person" && !form:
		t.Approved += weight
		t.Yes++
	case e.Code == "denied_by_person":
		t.Refused += weight
		t.No++
	case was == policy.Allow:
		t.Passed += weight
	}
}

func (t *tally) mergeTally(o *tally) {
	t.Approved, t.Refused = t.Approved+o.Approved, t.Refused+o.Refused
	t.Passed, t.Observed = t.Passed+o.Passed, t.Observed+o.Observed
	t.Calls, t.Yes, t.No = t.Calls+o.Calls, t.Yes+o.Yes, t.No+o.No
	if t.First.IsZero() || o.First.Before(t.First) {
		t.First, t.Record = o.First, o.Record
	}
	if o.Last.After(t.Last) {
		t.Last = o.Last
	}
	for s := range o.sessions {
		t.addSession(s)
	}
}

func (t *tally) addSession(s string) {
	if t.sessions == nil {
		t.sessions = map[string]bool{}
	}
	if len(t.sessions) < maxSessions {
		t.sessions[s] = true
	}
}

// isEnough reports whether a weight corresponds to at least count calls.
func isEnough(weight float64, count int) bool { return math.Round(weight) >= float64(count) }

// approvedShare returns the share of yes among a person's answers; 1 without
// answers.
func (t *tally) approvedShare() float64 {
	if t.Approved+t.Refused == 0 {
		return 1
	}
	return t.Approved / (t.Approved + t.Refused)
}
