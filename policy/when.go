package policy

import (
	"slices"
	"time"
)

// When is the time at which a rule applies. With the zero value a rule never applies.
type When struct {
	From, To      int            // minutes of the day; a To that is not after From is on the next day
	Days          [7]bool        // days on which a period begins, indexed by time.Weekday
	Zone          *time.Location // time zone of From, To and Days
	After, Before time.Time      // the rule applies only from After and until Before; a zero time is no bound
	Text          string         // the value of the key "when", as TOML
}

// ContainsTime reports whether t lies in w.
func (w *When) ContainsTime(t time.Time) bool {
	if w.Zone == nil || !w.After.IsZero() && t.Before(w.After) || !w.Before.IsZero() && !t.Before(w.Before) {
		return false
	}
	t = t.In(w.Zone)
	minute, day := t.Hour()*60+t.Minute(), t.Weekday()
	if w.From < w.To {
		return w.Days[day] && w.From <= minute && minute < w.To
	}
	return w.Days[day] && minute >= w.From || w.Days[(day+6)%7] && minute < w.To
}

// AsksDisk reports whether a rule has a condition that looks at Options.Disk.
func (p *Policy) AsksDisk() bool {
	return p.matchesAnyLayer(func(q *Policy) bool { return q.asksDisk })
}

// DependsOnHints reports whether a rule has a condition on a fact that a fixture may leave out
// (CallKey.Hint).
func (p *Policy) DependsOnHints() bool {
	return p.matchesAnyLayer(func(q *Policy) bool { return q.hinted })
}

// Timed reports whether a rule has a condition on Call.At.
func (p *Policy) Timed() bool { return p.timed }

// matchesAnyLayer reports whether test returns true for the policy, for one of its policies about
// replies and lists, or for a layer.
func (p *Policy) matchesAnyLayer(test func(*Policy) bool) bool {
	return test(p) || slices.ContainsFunc(p.screens[:], func(q *Policy) bool { return q != nil && q.matchesAnyLayer(test) }) ||
		slices.ContainsFunc(p.options.Above, func(q *Policy) bool { return q.matchesAnyLayer(test) })
}
