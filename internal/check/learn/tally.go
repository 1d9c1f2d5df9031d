package learn

import (
	"math"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// tally counts calls. Approved, Refused, Passed and Observed are sums of weights, which depend on
// the age of the calls.
type tally struct {
	Approved, Refused float64 // a person was asked and said yes or no
	Passed            float64 // a rule at that time allowed the call
	Observed          float64 // calls while nothing was enforced

	Calls, Yes, No int // numbers of all calls, of the approved calls and of the refused calls
	First, Last    time.Time
	Record         string // ID of the first record
	sessions       map[string]bool
}

// maxSessions bounds the number of sessions counted separately.
const maxSessions = 1000

// addDecision counts one decision. form means that the answer came through the client's own form;
// then a yes does not count. docs/denials.md lists the codes.
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

// isEnough reports whether a sum of weights is at least count, after rounding.
func isEnough(weight float64, count int) bool { return math.Round(weight) >= float64(count) }

// approvedShare returns the share of yes among a person's answers, or 1 if there are no answers.
func (t *tally) approvedShare() float64 {
	if t.Approved+t.Refused == 0 {
		return 1
	}
	return t.Approved / (t.Approved + t.Refused)
}
