// Package diff reports which calls two policies answer differently. It compares decisions, not
// lines of text. For whole classes of calls it uses the proofs of internal/check/prove. It also
// lets both policies judge fixtures and recorded calls.
package diff

import (
	"cmp"
	"slices"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/policy"
)

// ChangeKind is a word for how an answer changes. The words are stable.
type ChangeKind string

// Values of ChangeKind. Kinds returns them in the order of a report.
const (
	NewlyAllowed  ChangeKind = "newly_allowed"     // was denied, now allowed
	NoLongerAsked ChangeKind = "no_longer_asked"   // a person was asked, now allowed
	LimitChanged  ChangeKind = "limit_changed"     // allowed by both policies, with different limits
	Approvers     ChangeKind = "approvers_changed" // both policies ask, but different approvers
	NewlyAsked    ChangeKind = "newly_asked"       // was denied or allowed, now a person is asked
	AskedInBand   ChangeKind = "asked_in_band"     // a person was asked outside the client, now the client may ask
	AskedOutside  ChangeKind = "asked_out_of_band" // the client could ask, now a person is asked outside the client
	NewlyDenied   ChangeKind = "newly_denied"      // was allowed or asked about, now denied
)

// Kinds lists the kinds in the order of a report.
func Kinds() []ChangeKind {
	return []ChangeKind{NewlyAllowed, NoLongerAsked, LimitChanged, Approvers, AskedInBand, NewlyAsked, AskedOutside, NewlyDenied}
}

// KindOf returns how an answer changes; "" if it does not change.
func KindOf(before, after Answer) ChangeKind {
	switch {
	case before.Action == after.Action && before.Action == policy.Allow:
		if limitOf(&before) != limitOf(&after) {
			return LimitChanged
		}
	case before.Action == after.Action && before.Action == policy.Prompt && before.Approval != after.Approval:
		return Approvers
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

// Answer is how a policy answers a call.
type Answer = prove.Answer

// limitOf returns the limit in the rule of an answer. It leaves out Key, which is different for
// each rule.
func limitOf(a *Answer) policy.Rate {
	if a.Rule == nil {
		return policy.Rate{}
	}
	r := a.Rule.Rate
	r.Key = ""
	return r
}

// Change is a class of calls that the new policy answers with New instead of Old.
type Change struct {
	Kind     ChangeKind
	Old, New Answer
	Example  *policy.Call // an example of such a call, judged by both policies
	Unseen   bool         // the answer changes only for calls that are too long to be searched for findings
	Fixture  []byte       // the example as a fixture that expects the new answer; nil if no fixture can show it
}

// Doubt is a possible change. The comparison found no call that shows the change, and no proof that
// the change is impossible.
type Doubt struct {
	Old, New Answer
	Reason   string
	Spelling bool // only calls in an uncommon spelling can be affected
}

// isGeneral reports whether Old and New do not show how the answer may change. Then any call
// that Reason describes may be answered differently.
func (d *Doubt) isGeneral() bool { return KindOf(d.Old, d.New) == "" }

// Report holds the differences of two policies.
type Report struct {
	OldRevision, NewRevision string

	Changes []Change // the most dangerous change comes first
	Doubts  []Doubt
	Replies *Replies // nil if neither policy has rules about replies

	Fixtures *Fixtures // nil if no fixtures were given
	Record   *Record   // nil if no record was given
}

// ComparePolicies compares two policies. Both must be parsed with the same home folder.
func ComparePolicies(before, after *policy.Policy) *Report {
	return CompareWithin(before, after, prove.Options{})
}

// CompareWithin is ComparePolicies with a bound on the work.
func CompareWithin(before, after *policy.Policy, o prove.Options) *Report {
	r := &Report{OldRevision: before.Revision(), NewRevision: after.Revision()}
	if before.Revision() == after.Revision() && before.Revision() != "" {
		return r // the texts are equal, so there is nothing to compare
	}
	r.Replies = compareReplies(before, after)
	_, screensBefore := before.Screens(policy.OnCall)
	_, screensAfter := after.Screens(policy.OnCall)
	for _, c := range prove.Difference(before, after, o) {
		old, now := c.Old, c.New
		if c.Reason == prove.ReasonReplies {
			continue
		}
		if c.Undecided {
			r.Doubts = append(r.Doubts, Doubt{old, now, c.Reason, c.Reason == prove.ReasonSpelling})
			continue
		}
		change := Change{Kind: KindOf(old, now), Old: old, New: now, Example: c.Witness}
		change.Unseen = (screensBefore || screensAfter) && !c.Witness.Screened
		if fx, err := check.Compose(c.Witness, now.Action); err == nil && !change.Unseen {
			change.Fixture = fx.Text
		}
		r.Changes = append(r.Changes, change)
	}
	slices.SortStableFunc(r.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(dangerRank(a.Kind, &a.Old), dangerRank(b.Kind, &b.Old)), cmp.Compare(ruleLine(&a.New), ruleLine(&b.New)), cmp.Compare(ruleLine(&a.Old), ruleLine(&b.Old)))
	})
	return r
}

// dangerRank sorts changes: a change that permits more has a lower rank. A prompt instead of a deny
// permits more than a prompt instead of an allow.
func dangerRank(k ChangeKind, was *Answer) int {
	at := 2 * slices.Index(Kinds(), k)
	if k == NewlyAsked && was.Action == policy.Allow {
		at++
	}
	return at
}

func ruleLine(a *Answer) int {
	if a.Rule == nil {
		return 1 << 30
	}
	return a.Rule.Pos.Line
}

// HasChanges reports whether the policies answer some call, fixture or recorded message
// differently, or whether this could not be excluded.
func (r *Report) HasChanges() bool {
	return len(r.Changes) > 0 || len(r.Doubts) > 0 || r.Replies != nil && (len(r.Replies.Changes) > 0 || !r.Replies.Whole) ||
		r.Fixtures != nil && len(r.Fixtures.Changes) > 0 || r.Record != nil && r.Record.HasChanges()
}

// CountChanges returns the number of classes for each kind of change.
func (r *Report) CountChanges() map[ChangeKind]int {
	counts := map[ChangeKind]int{}
	for i := range r.Changes {
		counts[r.Changes[i].Kind]++
	}
	return counts
}
