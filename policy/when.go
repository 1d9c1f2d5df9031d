package policy

import (
	"slices"
	"time"
)

// When is the time at which a rule holds. The zero value never does.
type When struct {
	From, To      int            // minutes of the day; a To that is not after From is one of the next day
	Days          [7]bool        // on which the stretch begins, from Sunday as time.Weekday has them
	Zone          *time.Location // in which they are meant
	After, Before time.Time      // and only from, or until then; zero for no such bound
	Text          string         // as TOML
}

// ContainsTime reports whether t lies in it.
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

// AsksDisk reports whether an answer may depend on Options.Disk.
func (p *Policy) AsksDisk() bool {
	return p.matchesAnyLayer(func(q *Policy) bool { return q.asksDisk })
}

// DependsOnHints reports whether an answer may depend on what a fixture need not say of a call
// (CallKey.Hint).
func (p *Policy) DependsOnHints() bool {
	return p.matchesAnyLayer(func(q *Policy) bool { return q.hinted })
}

// Timed reports whether an answer may depend on Call.At.
func (p *Policy) Timed() bool {
	return p.matchesAnyLayer(func(q *Policy) bool { return q.timed })
}

// matchesAnyLayer reports whether something is so of the rules about calls or about what comes back, of
// the policy or of a layer.
func (p *Policy) matchesAnyLayer(is func(*Policy) bool) bool {
	return is(p) || slices.ContainsFunc(p.screens[:], func(q *Policy) bool { return q != nil && q.matchesAnyLayer(is) }) ||
		slices.ContainsFunc(p.options.Above, func(q *Policy) bool { return q.matchesAnyLayer(is) })
}
