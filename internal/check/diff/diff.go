// Package diff says which calls two policies answer differently: decisions, not
// lines. Classes of calls are proved (internal/check/prove), fixtures and recorded calls
// are judged by both.
package diff

import (
	"cmp"
	"slices"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/policy"
)

// Kind is how an answer changes, as a stable word.
type Kind string

// The kinds, the most dangerous first.
const (
	NewlyAllowed  Kind = "newly_allowed"   // was denied, is allowed
	NoLongerAsked Kind = "no_longer_asked" // a person was asked, now it is allowed
	LimitChanged  Kind = "limit_changed"   // allowed, as often as another limit says
	NewlyAsked    Kind = "newly_asked"     // was denied or allowed, now a person is asked
	AskedInBand   Kind = "asked_in_band"   // a person was asked past the client, and may now be asked in it
	AskedOutside  Kind = "asked_out_of_band"
	NewlyDenied   Kind = "newly_denied"
)

// Kinds lists them in the order of a report.
func Kinds() []Kind {
	return []Kind{NewlyAllowed, NoLongerAsked, LimitChanged, AskedInBand, NewlyAsked, AskedOutside, NewlyDenied}
}

// KindOf says how an answer changes; "" when it does not.
func KindOf(before, after Answer) Kind {
	switch {
	case before.Action == after.Action && before.Action == policy.Allow:
		if limit(&before) != limit(&after) {
			return LimitChanged
		}
	case before.Action == after.Action && before.Action == policy.Prompt && before.OutOfBand != after.OutOfBand:
		if before.OutOfBand {
			return AskedInBand
		}
		return AskedOutside
	case before.Action == after.Action:
	case after.Action == policy.Deny:
		return NewlyDenied
	case after.Action == policy.Prompt:
		return NewlyAsked
	case before.Action == policy.Prompt:
		return NoLongerAsked
	default:
		return NewlyAllowed
	}
	return ""
}

// Answer is what a policy says.
type Answer = prove.Answer

// limit is how often an allow holds, whatever the rule is called.
func limit(a *Answer) policy.Rate {
	if a.Rule == nil {
		return policy.Rate{}
	}
	r := a.Rule.Rate
	r.Key = ""
	return r
}

// Change is one class of calls that are answered differently, by the same rules.
type Change struct {
	Kind     Kind
	Old, New Answer
	Example  *policy.Call // one of them: both policies were asked
	Unseen   bool         // it is so where nothing can look for what a call carries: one that is too long
	Fixture  []byte       // the example as a fixture file that expects the new answer; nil when none can be written
}

// Doubt is a change that could neither be shown nor ruled out.
type Doubt struct {
	Old, New Answer
	Reason   string
	Spelling bool // only a call in an uncommon spelling could show it
}

// whole says that a doubt is about no two rules but about all that Reason names.
func (d *Doubt) whole() bool { return KindOf(d.Old, d.New) == "" }

// Report is the difference of two policies.
type Report struct {
	OldRevision, NewRevision string

	Changes []Change // most dangerous first
	Doubts  []Doubt
	Replies *Replies // nil: neither policy is about what comes back

	Fixtures *Fixtures // nil: none were given
	Record   *Record   // nil: it was not asked
}

// Policies compares two policies, which must have been given the same home.
func Policies(before, after *policy.Policy) *Report {
	r := &Report{OldRevision: before.Revision(), NewRevision: after.Revision()}
	if before.Revision() == after.Revision() && before.Revision() != "" {
		return r // one text: nothing to prove
	}
	r.Replies = compareReplies(before, after)
	_, asks := before.Screens(policy.OnCall)
	_, also := after.Screens(policy.OnCall)
	for _, c := range prove.Difference(before, after, prove.Options{}) {
		old, now := c.Old, c.New
		if c.Reason == prove.ReasonReplies {
			continue
		}
		if c.Undecided {
			r.Doubts = append(r.Doubts, Doubt{old, now, c.Reason, c.Reason == prove.ReasonSpelling})
			continue
		}
		change := Change{Kind: KindOf(old, now), Old: old, New: now, Example: c.Witness}
		change.Unseen = (asks || also) && !c.Witness.Screened
		if fx, err := check.Compose(c.Witness, now.Action); err == nil && !change.Unseen {
			change.Fixture = fx.Text
		}
		r.Changes = append(r.Changes, change)
	}
	slices.SortStableFunc(r.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(danger(a.Kind, &a.Old), danger(b.Kind, &b.Old)), cmp.Compare(line(&a.New), line(&b.New)), cmp.Compare(line(&a.Old), line(&b.Old)))
	})
	return r
}

// danger orders changes: what opens most comes first. A question in the place of
// a denial opens, one in the place of an allow does not.
func danger(k Kind, was *Answer) int {
	at := 2 * slices.Index(Kinds(), k)
	if k == NewlyAsked && was.Action == policy.Allow {
		at++
	}
	return at
}

func line(a *Answer) int {
	if a.Rule == nil {
		return 1 << 30
	}
	return a.Rule.Pos.Line
}

// Changed says that some call, fixture or record is answered differently, or
// that this could not be ruled out.
func (r *Report) Changed() bool {
	return len(r.Changes) > 0 || len(r.Doubts) > 0 || r.Replies != nil && (len(r.Replies.Changes) > 0 || !r.Replies.Whole) ||
		r.Fixtures != nil && len(r.Fixtures.Changes) > 0 || r.Record != nil && r.Record.Changed()
}

// Counts is how many classes of each kind there are.
func (r *Report) Counts() map[Kind]int {
	counts := map[Kind]int{}
	for i := range r.Changes {
		counts[r.Changes[i].Kind]++
	}
	return counts
}
