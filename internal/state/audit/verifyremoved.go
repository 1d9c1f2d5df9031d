package audit

import "time"

// removals keeps the totals that are needed to check each removal against the retention.
type removals struct {
	keep    Retention
	now     time.Time
	total   int64 // total bytes of the closed segments that are not removed yet
	unsized bool  // a line of an older version does not contain the size of its segment
}

// clockTolerance is how far in the future the time of a mark may be. Clocks can be wrong.
const clockTolerance = 24 * time.Hour

func (r *removals) addSize(m *mark) {
	r.total += m.Size
	r.unsized = r.unsized || m.Size == 0
}

// checkRemoval reports a removal that the retention did not require. Somebody could delete a
// segment and write a removal to the ledger to hide the deletion.
func (v *verifier) checkRemoval(known *statement, m *mark) {
	end := known.end
	switch {
	case end == nil:
		v.addFinding(ledgerName, m.position, "the segment %q is removed, and was never closed", m.Segment)
		return
	case m.Time.After(v.now.Add(clockTolerance)):
		v.addFinding(ledgerName, m.position, "the segment %q is removed at a time that has not come, %s", m.Segment, m.Time.Format(time.DateTime))
	case m.isTighter(v.keep):
		v.addFinding(ledgerName, m.position, "the segment %q is removed by a retention that is not in force: %s", m.Segment, m.Detail)
	case v.keep.tooOld(end.Time, m.Time):
	case v.unsized:
		v.addNote(ledgerName, m.position, "whether retention asked for the removal of %q cannot be known: an older version closed segments without saying how large they were", m.Segment)
	case v.keep.Keep <= 0 || v.total <= v.keep.Keep:
		v.addFinding(ledgerName, m.position, "the segment %q is removed, and retention would have kept it: it was closed on %s, and all were %d bytes (%s)",
			m.Segment, end.Time.Format(time.DateTime), v.total, m.Detail)
	}
	v.total -= end.Size
}

// isTighter reports whether a removal names a retention that keeps less than r.
func (m *mark) isTighter(r Retention) bool {
	return m.Keep > 0 && (r.Keep < 0 || m.Keep < r.Keep) ||
		m.KeepFor > 0 && (r.KeepFor < 0 || m.KeepFor < int64(r.KeepFor/time.Second))
}
