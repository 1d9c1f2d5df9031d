package learn

import (
	"math"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// tally counts calls. Approved, Refused, Passed and Observed are sums of weights; the weight of a
// call depends on its age.
type tally struct {
	Approved, Refused float64 // calls about which a person was asked, with the answer yes or no
	Passed            float64 // calls that a rule allowed when they were recorded
	Observed          float64 // calls that were recorded while nothing was enforced

	Calls, Yes, No int // number of all calls, of approved calls and of refused calls
	First, Last    time.Time
	Record         string // id of the first record
	sessions       map[string]bool
}

// maxSessions is the maximum number of sessions that are counted separately.
const maxSessions = 1000

// addDecision counts one decision. form means that the answer came through the client's own form;
// then a yes is not counted as approval. docs/denials.md lists the codes of decisions.
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

// isEnough reports whether a sum of weights, rounded, is at least the number in the parameter
// count.
func isEnough(weight float64, count int) bool { return math.Round(weight) >= float64(count) }

// approvedShare returns the share of yes in the answers of a person; 1 if there are none.
func (t *tally) approvedShare() float64 {
	if t.Approved+t.Refused == 0 {
		return 1
	}
	return t.Approved / (t.Approved + t.Refused)
}
